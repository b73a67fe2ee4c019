import t from 'tap'
import { AnswerDetector } from '../../../../../runtime/conversation/hearing/answer-detector.ts'
import { isBackchannel } from '../../../../../runtime/conversation/hearing/barge-in.ts'
import { endingOf } from '../../../../../runtime/conversation/hearing/end-of-turn.ts'
import { detectLanguage } from '../../../../../runtime/conversation/languages/detect.ts'
import { LANGUAGES, languageOf, speaks } from '../../../../../runtime/conversation/languages/index.ts'
import { OWN_PHRASES, type Phrases } from '../../../../../runtime/conversation/languages/phrases.ts'
import { plain } from '../../../../../runtime/conversation/languages/plain.ts'
import { splitSentences } from '../../../../../runtime/plugin-sdk/speech/sentences.ts'

const ends = (text: string, code: string) => endingOf(text, { asked: '', punctuates: true }, languageOf(code))

t.test('every language is complete', async (t) => {
  t.same(
    LANGUAGES.map(({ code }) => code),
    ['en', 'de', 'es', 'fr', 'it', 'pt', 'nl', 'pl', 'sv', 'tr', 'ja', 'hi'],
  )
  const [english, ...others] = LANGUAGES
  for (const { code, writing, phrases, informal, regions, orders, answering, ...lists } of LANGUAGES) {
    const variants = Object.values(regions).flatMap((region) => [region.phrases ?? {}, region.informal ?? {}])
    for (const sentences of [phrases, informal.phrases, ...variants]) {
      for (const [name, phrase] of Object.entries(sentences)) t.match(phrase, /[.?!。？।]$/, `${code} ${name}`)
    }
    for (const field of ['openEndings', 'looseEndings', 'commonWords'] as const) {
      if (writing === 'spaced') t.ok(lists[field].size > 10, `${code} ${field}`)
      for (const word of lists[field]) t.equal(word, word.toLowerCase(), `${code} ${field} ${word}`)
    }
    for (const word of lists.openEndings)
      t.notOk(lists.looseEndings.has(word), `${code}: ${word} is in one list of endings`)
    t.ok(lists.backchannels.size > 20, `${code} backchannels`)
    t.ok(lists.holdOns.size > 5, `${code} holdOns`)
    t.ok(lists.dictation.digits.size >= 10, `${code} digits`)
    for (const word of lists.dictation.digits) t.equal(word, word.toLowerCase(), `${code} digit ${word}`)
    t.match(phrases.abandoned, /\{\{workspace\}\}[\s\S]*\{\{from_number\}\}/, `${code} abandoned`)
    for (const phrase of [phrases.disclosure, phrases.voicemail])
      t.ok(lists.saysAi.test(plain(phrase)), `${code}: ${phrase}`)
    t.notOk(lists.saysAi.test(plain(phrases.takeCall)), code)
    // They are matched with plain texts: an accent or a capital in one would never be found.
    for (const { source } of Object.values(answering).flat()) {
      t.equal(
        plain(source.replace(/\\[bdws]|[^\p{L}\p{M}]+/gu, ' ')),
        source
          .replace(/\\[bdws]|[^\p{L}\p{M}]+/gu, ' ')
          .replace(/ +/g, ' ')
          .trim(),
        `${code} ${source}`,
      )
      if (code !== 'ja' && code !== 'hi') t.match(source, /^[a-z0-9 \\(){}?:!*+|,<=^$[\]bwWdS.]+$/, `${code} ${source}`)
    }
    t.equal(detectLanguage(`${orders.language} ${orders.sayAi}`)?.code, code, `${code} instruction`)
  }
  for (const other of others) {
    for (const [name, phrase] of Object.entries(other.phrases)) {
      t.not(phrase, english.phrases[name as keyof typeof english.phrases], `${other.code} ${name}`)
    }
  }
})

t.test('a language without one of the sentences does not compile', async (t) => {
  const { goodbye, ...phrases } = languageOf('de').phrases
  // @ts-expect-error: `goodbye` is missing.
  const incomplete: Phrases = phrases
  t.notOk(Object.values(incomplete).includes(goodbye))
})

t.test('a tag leads to its language, an unknown one to no sentences and no English words', async (t) => {
  t.equal(languageOf('de-AT').code, 'de')
  t.equal(languageOf('PT_br').code, 'pt')
  t.equal(languageOf('fr-fr+f3').code, 'fr')
  for (const none of [undefined, '', 'multi']) t.equal(languageOf(none).code, 'en')
  const korean = languageOf('ko-KR')
  t.equal(korean.code, 'ko')
  t.equal(korean.orders.language, 'Always speak Korean.')
  for (const name of OWN_PHRASES) t.equal(korean.phrases[name], '', name)
  t.equal(korean.openEndings.size, 0)
  t.notOk(speaks('ko'))
  t.ok(speaks('pt-AO'))
  t.ok(speaks('multi'))
  t.equal(languageOf('ko', { phrases: { bye: '안녕히 계세요.' } }).phrases.bye, '안녕히 계세요.')
})

t.test('a region and a register have sentences of their own', async (t) => {
  t.match(languageOf('pt-PT').phrases.takeCall, /prima 1/)
  t.match(languageOf('pt-BR').phrases.takeCall, /digite 1/)
  t.match(languageOf('es-MX').phrases.takeCall, /marque 1/)
  t.match(languageOf('es-ES').phrases.takeCall, /pulse 1/)
  t.match(languageOf('fr-CA').phrases.transferring, /transfère/)
  t.equal(languageOf('de', { register: 'informal' }).phrases.stillThere, 'Bist du noch da?')
  t.equal(languageOf('de-AT').phrases.stillThere, 'Sind Sie noch da?')
  t.match(languageOf('es-AR', { register: 'informal' }).phrases.takeCall, /marca 1/)
  t.match(languageOf('pt-PT', { register: 'informal' }).phrases.disclosure, /^Estás a falar/)
  // A caller of an agent on familiar terms hears no formal sentence.
  const formal = {
    de: /\b(?:Sie|Ihnen)\b/,
    fr: /\b[Vv]ous\b|-vous/,
    nl: /\bu\b/i,
    it: /\b(?:la|Può|Vuole|aiutarla)\b/,
    es: /\busted\b/,
  }
  for (const [code, pattern] of Object.entries(formal)) {
    const { phrases } = languageOf(code, { register: 'informal' })
    for (const name of OWN_PHRASES) t.notMatch(phrases[name].replaceAll('la chiamata', ''), pattern, `${code} ${name}`)
  }
})

t.test('complete sentences of every language are taken for complete', async (t) => {
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
      t.equal(ends(text, code), 'plain', `${code}: ${text}`)
      t.match(ends(`${text}.`, code), /^(?:brief|closed)$/, `${code}: ${text}.`)
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
      t.equal(ends(text, code), 'open', `${code}: ${text}`)
    }
  }
})

t.test('a word that may end a sentence costs little, and nothing behind a full stop', async (t) => {
  const complete = {
    en: ['What is it for', 'Who are you', 'Yes I am', 'Yes, that', 'Not really', 'I think so', 'Come on in'],
    de: [
      'Das weiß ich',
      'Ja, kann ich',
      'Das bin ich',
      'Nur eine',
      'Ich nehme den',
      'Ich lade Sie ein',
      'Ich komme nicht durch',
      'Das war so',
      'Heute oder morgen, oder',
    ],
    es: ['Soy yo', 'Nada más', '¿Cuándo es', 'Quiero este', 'Sí, pues'],
    fr: ['Juste une', 'zéro un', 'C’est quand', 'J’en veux plus', 'Où est-il'],
    it: ['Sì, sono io', 'Numero uno', 'Chi è', 'Non so quando', 'Che ore sono', 'Bello, eh'],
    pt: ['Não', 'Agora não', 'Acho que não', 'Quem é', 'Já está', 'Só eu', 'É minha', 'Não quero mais', 'É bom, né'],
    nl: ['Dat wil ik', 'Ik neem die', 'Wat is het dan geweest met'],
    sv: ['Det är jag', 'Ja, det vill jag'],
    pl: ['To ja', 'Nie mam', 'Już jestem'],
  }
  for (const [code, texts] of Object.entries(complete)) {
    for (const text of texts) {
      t.match(ends(text, code), /^(?:plain|loose|answer)$/, `${code}: ${text}`)
      t.match(ends(`${text}.`, code), /^(?:plain|brief|closed)$/, `${code}: ${text}.`)
    }
  }
  const open = {
    en: ["I'm", 'between', 'these', 'I want'],
    de: ['Ich nehme keinen', 'Es geht um dieser', 'nach', 'Wir treffen uns bei'],
    es: ['Quiero', 'Necesito', 'para cada'],
    fr: ['J’ai', 'avec cette', 'dès', 'bah'],
    it: ['vorrei', 'dello', 'allora'],
    pt: ['numa', 'preciso', 'contra'],
    nl: ['tussen', 'omdat'],
    sv: ['eftersom', 'mellan'],
    pl: ['ponieważ', 'przez'],
    tr: ['çünkü', 'benim'],
    ja: ['明日の', '予約したいんだけど', 'えっと'],
    hi: ['क्योंकि', 'मेरा'],
  }
  for (const [code, texts] of Object.entries(open)) {
    for (const text of texts) t.equal(ends(text, code), 'open', `${code}: ${text}`)
  }
})

t.test('backchannels are those of the language', async (t) => {
  const said = {
    en: ['I see', 'Got it', 'Of course', 'Makes sense.', 'That makes sense', 'Fair enough', 'Yeah, right', 'Uh-huh'],
    de: ['Ja, genau.', 'Mhm.', 'Ach so', 'Na klar', 'In Ordnung', 'Das stimmt', 'Ich verstehe', 'Alles klar', 'Jep'],
    es: ['Sí, vale.', 'Ajá', 'De acuerdo', 'Claro que sí', 'Así es', 'Ya veo', 'Órale'],
    fr: ['D’accord.', 'Oui, voilà', 'C’est ça', 'Bien sûr', 'Tout à fait', 'Je comprends', 'Très bien'],
    it: ['Sì, va bene', 'Ho capito', 'Infatti', 'Come no'],
    pt: ['Tá, certo', 'Está bem', 'Isso mesmo', 'Com certeza', 'Percebi'],
    nl: ['Ja hoor', 'Precies', 'Dat klopt'],
    pl: ['No tak', 'Tak, tak', 'Rozumiem', 'No właśnie'],
    sv: ['Just det', 'Jaha', 'Jag förstår'],
    tr: ['Evet', 'Hı hı', 'Tamam, anladım'],
    ja: ['はい', 'うんうん', 'なるほど', 'そうですね'],
    hi: ['जी हाँ', 'अच्छा', 'ठीक है'],
  }
  for (const [code, texts] of Object.entries(said)) {
    for (const text of texts) t.ok(isBackchannel(text, languageOf(code)), `${code}: ${text}`)
  }
  const floor = {
    en: ['Huh?', 'Right?', 'Um', 'No', 'Wait', 'Stop', 'Huh'],
    de: ['Ja?', 'Moment mal', 'Äh', 'Nein', 'Stopp', 'alles', 'eben'],
    es: ['¿Eh?', '¿Ya?', 'Ya, ya', 'Bueno, bueno', 'Espere', 'No'],
    fr: ['Euh', 'très je vois', 'Attendez', 'Non'],
    it: ['Eh?', 'Aspetti', 'No'],
    pt: ['Hein?', 'Espere', 'Não'],
    nl: ['Ja?', 'Wacht even'],
    pl: ['Tak?', 'Moment', 'Nie'],
    ja: ['え？', 'ちょっと待って', 'いいえ'],
  }
  for (const [code, texts] of Object.entries(floor)) {
    for (const text of texts) t.notOk(isBackchannel(text, languageOf(code)), `${code}: ${text}`)
  }
  t.notOk(isBackchannel('Genau', languageOf('en')))
  t.notOk(isBackchannel('Ja ja ja ja', languageOf('de')), 'who says so much wants the floor')
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
  for (const [code, text] of [
    ['de', 'Ihr Termin ist am 3. Mai um 10 Uhr.'],
    ['de', 'Wir sitzen im 2. Stock.'],
    ['de', 'Das sind ca. 3 Mio. Euro.'],
    ['de', 'Ich verbinde mit Dr. med. Huber.'],
    ['pl', 'Wizyta jest 3. maja.'],
    ['en', 'We open at 9 a.m. on Monday.'],
    ['en', 'It is 12 Mill Rd. in York.'],
    ['it', 'Chiami lo studio dell’Avv. Rossi.'],
    ['fr', 'Rendez-vous rue St. Jean.'],
    ['es', 'Viva en EE. UU. desde enero.'],
  ] as const) {
    t.same(splitSentences(text, code), [text], text)
  }
  t.same(splitSentences('Das war 2026. Heute ist es anders.', 'de'), ['Das war 2026.', 'Heute ist es anders.'])
  t.same(splitSentences('We close at 5. Come early.', 'en'), ['We close at 5.', 'Come early.'])
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
    nl: 'Ik ben op zoek naar de winkel en het station',
    sv: 'Jag vill gärna boka en tid på de tider som finns',
    pl: 'Czy mogę przyjść jutro o tej godzinie, bo jestem na miejscu?',
    tr: 'Yarın için randevu almak istiyorum',
    ja: '明日の予約をお願いします',
    hi: 'मुझे कल के लिए समय चाहिए',
  }
  const short = {
    de: 'Ich rufe wegen meiner Rechnung an',
    en: 'Good morning',
    fr: 'Bonsoir',
    es: 'Hola, quisiera reservar',
    pt: 'Oi, tudo bem?',
  }
  for (const [code, text] of Object.entries(short)) t.equal(detectLanguage(text)?.code, code, text)
  for (const [code, text] of Object.entries(texts)) t.equal(detectLanguage(text)?.code, code, text)
  for (const text of ['', 'Okay', '42', 'Madrid']) t.equal(detectLanguage(text), undefined, text)
  t.equal(plain('  ¿Cómo está?  '), 'como esta')
})
