import t from 'tap'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'
import { isBackchannel } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { readConsent } from '../../../../../runtime/conversation/hearing/consent.ts'
import { endpointingDelayMs, weighWords } from '../../../../../runtime/conversation/hearing/endpointing.ts'
import { detectLanguage } from '../../../../../runtime/conversation/languages/detect.ts'
import { LANGUAGES, languageOf } from '../../../../../runtime/conversation/languages/index.ts'
import { plain } from '../../../../../runtime/conversation/languages/plain.ts'
import { splitSentences } from '../../../../../runtime/plugin-sdk/speech/sentences.ts'

t.test('every language is complete', async (t) => {
  t.same(
    LANGUAGES.map(({ code }) => code),
    ['en', 'de', 'es', 'fr', 'it', 'pt'],
  )
  const [english, ...others] = LANGUAGES
  for (const language of LANGUAGES) {
    const { code, phrases, keys, abbreviations, consent, answering } = language
    for (const [name, phrase] of Object.entries(phrases)) t.match(phrase, /[.?!]$/, `${code} ${name}`)
    for (const field of ['openEndings', 'backchannels', 'commonWords'] as const) {
      t.ok(language[field].size > 20, `${code} ${field}`)
      for (const word of language[field]) t.match(word, /^[\p{Ll}'-]+$/u, `${code} ${field} ${word}`)
    }
    t.equal(new Set(keys).size, 10, `${code} keys`)
    t.ok(abbreviations.length > 5, `${code} abbreviations`)
    const patterns = [...Object.values(consent), ...Object.values(answering).flat()]
    // They are matched with plain texts: an accent or a capital in one would never be found.
    for (const { source } of patterns) t.match(source, /^[a-z0-9 \\(){}?:!*+|,[\]bwWd]+$/, `${code} ${source}`)
    for (const patterns of Object.values(answering)) t.ok([patterns].flat().length > 0)
    t.equal(detectLanguage(language.instruction)?.code, code, `${code} instruction`)
  }
  for (const other of others) {
    for (const [name, phrase] of Object.entries(other.phrases)) {
      t.not(phrase, english.phrases[name as keyof typeof english.phrases], `${other.code} ${name}`)
    }
  }
})

t.test('a tag leads to its language, an unknown one to English phrases and no English words', async (t) => {
  t.equal(languageOf('de-AT').code, 'de')
  t.equal(languageOf('PT_br').code, 'pt')
  t.equal(languageOf('fr-fr+f3').code, 'fr')
  for (const none of [undefined, '', 'multi']) t.equal(languageOf(none).code, 'en')
  const japanese = languageOf('ja-JP')
  t.equal(japanese.code, 'ja')
  t.equal(japanese.instruction, 'Always speak Japanese.')
  t.equal(japanese.phrases, languageOf('en').phrases)
  t.equal(japanese.openEndings.size, 0)
})

t.test('complete sentences of every language are answered at once', async (t) => {
  const complete = {
    en: ['What does he want', 'I am coming tomorrow'],
    de: ['Ich weiß, was er will', 'Ich komme um', 'Sag mir, was', 'Ich ziehe nächste Woche um', 'Machen Sie bitte auf'],
    es: ['Quiero reservar una mesa', 'Dígame qué', 'No lo sé'],
    fr: ['Je voudrais une table', 'Dites-moi quoi', 'Il fait bon ici'],
    it: ['Vorrei un tavolo', 'Mi dica cosa', 'Lo prendo per me'],
    pt: ['Quero uma mesa', 'Diga quando for melhor', 'Eu sei'],
  }
  for (const [code, texts] of Object.entries(complete)) {
    for (const text of texts) {
      t.equal(endpointingDelayMs(weighWords(0.7, text, languageOf(code))), 140, `${code}: ${text}`)
    }
  }
})

t.test('who stops after a word that no sentence ends with is waited for', async (t) => {
  const open = {
    en: ['I would like to book a table for', 'My name is'],
    de: ['Ich hätte gern einen Tisch für', 'Ich möchte gern wissen, ob', 'Mein Name ist'],
    es: ['Quisiera una mesa para', 'Mi nombre es'],
    fr: ['Je voudrais une table pour', 'C’est à propos de l’'],
    it: ['Vorrei un tavolo per', 'Il mio nome è'],
    pt: ['Quero uma mesa para', 'O meu nome é'],
  }
  for (const [code, texts] of Object.entries(open)) {
    for (const text of texts) {
      t.ok(endpointingDelayMs(weighWords(0.7, text, languageOf(code))) > 1_000, `${code}: ${text}`)
    }
  }
})

t.test('backchannels are those of the language', async (t) => {
  const said = { de: ['Ja, genau.', 'Mhm.', 'Ach so'], es: ['Sí, vale.', 'Ajá'], fr: ['D’accord.', 'Oui, voilà'] }
  for (const [code, texts] of Object.entries({ ...said, it: ['Sì, va bene'], pt: ['Tá, certo'] })) {
    for (const text of texts.filter((text) => text !== 'Ach so')) {
      t.ok(isBackchannel(text, languageOf(code)), `${code}: ${text}`)
    }
  }
  t.notOk(isBackchannel('Genau', languageOf('en')))
  t.notOk(isBackchannel('Moment mal', languageOf('de')))
})

t.test('consent is understood in every language, a doubtful one is none', async (t) => {
  const yes = {
    en: ['Yes', 'Sure, not a problem', "I don't mind", 'one'],
    de: ['Ja, gerne', 'Kein Problem', 'Ich habe nichts dagegen', 'Eins'],
    es: ['Sí, claro', 'Cómo no', 'No hay problema', 'Uno'],
    fr: ['Oui, bien sûr', 'Pas de problème', 'Un'],
    it: ['Sì, va bene', 'Non c’è problema'],
    pt: ['Sim, pode ser', 'Não tem problema'],
  }
  const no = {
    en: ['No', "I'd rather not", 'Two'],
    de: ['Nein danke', 'Lieber nicht', 'Zwei'],
    es: ['No, gracias', 'Sí, no, mejor no'],
    fr: ['Non merci', 'Je ne veux pas'],
    it: ['No grazie', 'Preferisco di no'],
    pt: ['Não, obrigado', 'Nem pensar'],
  }
  for (const [code, texts] of Object.entries(yes)) {
    for (const text of texts) t.equal(readConsent(text, languageOf(code)), 'given', `${code}: ${text}`)
  }
  for (const [code, texts] of Object.entries(no)) {
    for (const text of texts) t.equal(readConsent(text, languageOf(code)), 'refused', `${code}: ${text}`)
  }
  t.equal(readConsent('Yes, please', languageOf('de')), 'given', 'in another language than the agent’s')
  t.equal(readConsent('Worum geht es denn?', languageOf('de')), undefined)
})

t.test('voicemail, assistants and companies are told apart in every language', async (t) => {
  const verdict = (text: string) => new AnswerDetector(0).words(text, 1_000)
  const machines = [
    'Der Teilnehmer ist derzeit nicht erreichbar.',
    'Le correspondant n’est pas joignable, laissez un message après le bip.',
    'El cliente no está disponible en este momento.',
    'Il cliente non è raggiungibile.',
    'Sua chamada será encaminhada para a caixa postal.',
  ]
  for (const text of machines) t.equal(verdict(text), 'machine', text)
  const people = [
    'Thank you for calling Harbour Dental, this is Bob, how can I help you?',
    'Zahnarztpraxis am Hafen, guten Tag, mein Name ist Müller, was kann ich für Sie tun?',
    'Cabinet dentaire du port, bonjour, que puis-je faire pour vous ?',
    'Clínica del Puerto, buenos días, ¿en qué puedo ayudarle?',
    'Studio dentistico, buongiorno, come posso aiutarla?',
    'Clínica do Porto, bom dia, em que posso ajudar?',
  ]
  for (const text of people) t.equal(verdict(text), 'human', text)
  t.equal(verdict('Mit wem spreche ich, wer ruft an?'), 'screening')
})

t.test('abbreviations end no sentence', async (t) => {
  t.same(splitSentences('Fragen Sie Fr. Müller, z. B. morgen. Danke.', 'de'), [
    'Fragen Sie Fr. Müller, z. B. morgen.',
    'Danke.',
  ])
  t.same(splitSentences('Pregunte por la Sra. Pérez. Gracias.', 'es-MX'), ['Pregunte por la Sra. Pérez.', 'Gracias.'])
  t.same(splitSentences('Parli con il Sig. Rossi. Grazie.', 'it'), ['Parli con il Sig. Rossi.', 'Grazie.'])
  t.same(splitSentences('She is old. No. 5 is here.', 'en'), ['She is old.', 'No. 5 is here.'])
})

t.test('a text tells its language, one that could be any doesn’t', async (t) => {
  const texts = {
    en: 'What time do you open on Saturday?',
    de: 'Wann haben Sie am Samstag geöffnet?',
    es: '¿A qué hora abren los sábados?',
    fr: 'À quelle heure ouvrez-vous le samedi ?',
    it: 'A che ora aprite il sabato?',
    pt: 'A que horas vocês abrem no sábado?',
  }
  for (const [code, text] of Object.entries(texts)) t.equal(detectLanguage(text)?.code, code, text)
  for (const text of ['', 'Okay', '42', 'Madrid']) t.equal(detectLanguage(text), undefined, text)
  t.equal(plain('  ¿Cómo está?  '), 'como esta')
})
