import { test } from 'tap'
import {
  type Ending,
  endingOf,
  probabilityOver,
  silenceOf,
} from '../../../../../runtime/conversation/hearing/end-of-turn.ts'
import { languageOf } from '../../../../../runtime/conversation/languages/index.ts'

const ends = (words: string, asked = '', code = 'en', punctuates = true) =>
  endingOf(words, { asked, punctuates }, languageOf(code))

test('half a sentence is open, a comma, a hesitation and a request to wait are, too', (t) => {
  for (const words of [
    'I would like to book a table for',
    'A table for.',
    'My number is, um,',
    'On Friday, or no, wait',
    'Let me think.',
    'We could...',
  ])
    t.equal(ends(words), 'open', words)
  t.equal(ends('Soweit ich weiß, Moment', '', 'de'), 'open')
  t.equal(ends('Somos, a ver', '', 'es'), 'open')
  t.end()
})

test('what ends as a sentence does is closed, a question asks for the answer', (t) => {
  t.equal(ends('There are four of us tonight.'), 'closed')
  t.equal(ends('We are four.'), 'brief', 'after a few words more may come')
  t.equal(ends('Are you open?'), 'question')
  t.equal(ends('Is it mine or yours?'), 'question')
  // Whisper's words, in the pause of a sentence.
  t.equal(ends('And when do I have to?'), 'plain', 'on words that no other sentence ends with')
  t.equal(ends('Could you also tell me whether?'), 'plain')
  t.equal(ends('What are you looking at?'), 'closed', 'on a word that often stands before more')
  t.equal(ends('four people'), 'plain')
  t.equal(ends('four people', '', 'en', false), 'bare', 'where the recogniser sets no full stops')
  t.equal(
    ends('We would like a room with.'),
    'plain',
    'a full stop behind a word that often stands before more may be wrong',
  )
  t.equal(ends(''), 'unknown')
  t.end()
})

test('a tale goes on after its sentences', (t) => {
  const tale =
    'I was on my way home, and it rained, and at the corner by the old station there stood a man with a dog that I had met before'
  t.equal(ends(`${tale} somewhere.`), 'plain')
  t.equal(ends(`${tale} somewhere`), 'told')
  t.equal(ends(`${tale} somewhere`, '', 'en', false), 'told')
  t.equal(ends(`${tale} somewhere?`), 'question')
  t.end()
})

test('a question of the agent wants a yes or a no, or more', (t) => {
  const wantsMore: Readonly<Record<string, string>> = {
    en: 'At what time would you like to come?',
    de: 'Für wie viele Personen?',
    es: '¿En qué puedo ayudarle?',
    fr: 'Que puis-je faire pour vous ?',
    it: 'Quante persone siete?',
    pt: 'Para quantas pessoas?',
    nl: 'Hoe kan ik u helpen?',
    pl: 'W czym mogę pomóc?',
    sv: 'Hur kan jag hjälpa dig?',
    tr: 'Size nasıl yardımcı olabilirim?',
    ja: 'ご用件は何でしょうか？',
    hi: 'मैं आपकी कैसे मदद कर सकता हूँ?',
  }
  const wantsYes: Readonly<Record<string, [question: string, yes: string]>> = {
    en: ['Is that what you meant?', 'yes'],
    de: ['Haben Sie ein Konto bei uns?', 'ja'],
    es: ['¿Es correcto?', 'sí'],
    fr: ['Est-ce exact ?', 'oui'],
    it: ['È corretto?', 'sì'],
    pt: ['Está correto?', 'sim'],
    nl: ['Klopt dat?', 'ja'],
    pl: ['Czy to się zgadza?', 'tak'],
    sv: ['Stämmer det?', 'ja'],
    tr: ['Doğru mu?', 'evet'],
    ja: ['よろしいですか？', 'はい'],
    hi: ['क्या यह सही है?', 'हाँ'],
  }
  const notYet: Record<string, string> = {
    ...{ en: 'Not yet.', de: 'Noch nicht.', es: 'Todavía no.', fr: 'Pas encore.', it: 'Non ancora.', pt: 'Ainda não.' },
    ...{ nl: 'Nog niet.', pl: 'Jeszcze nie.', sv: 'Inte än.', tr: 'Henüz değil.', ja: 'まだです。', hi: 'अभी नहीं।' },
  }
  for (const [code, [question, yes]] of Object.entries(wantsYes)) {
    t.equal(ends(yes, question, code), 'answer', question)
    t.equal(ends(notYet[code] ?? '', question, code), 'answer', `${notYet[code]}`)
    t.not(ends(yes, wantsMore[code], code), 'answer', `${wantsMore[code]}`)
  }
  t.end()
})

test('a yes or a no answers a question of the agent, and nothing else', (t) => {
  t.equal(ends('Yes', 'Is that correct?'), 'answer')
  t.equal(ends('No, thank you.', 'Is there anything else?'), 'answer')
  t.equal(ends('Ja.', 'Stimmt das so?', 'de'), 'answer')
  t.equal(ends('Yes', 'I have noted that.'), 'plain')
  t.equal(ends("Yes, but I'd like a bigger one.", 'Is that correct?'), 'closed')
  t.equal(ends('Very well.', 'Is that right? How was your stay?'), 'brief', 'to a question that wants more')
  t.equal(ends('I have one', 'Do you have an account?'), 'brief', 'other words that may answer it')
  t.equal(ends('I have one', 'When did you open your account?'), 'plain')
  t.end()
})

test('a telephone number is waited for to its end, another number for longer than a sentence', (t) => {
  const asked = 'What is your phone number?'
  t.equal(ends('0 7 9', asked), 'open')
  t.equal(ends('zero seven nine three three four', asked), 'open')
  t.equal(ends('0793 3455', asked), 'dictated')
  t.equal(ends('079 334 1285', asked), 'answer')
  t.equal(ends('07 93 34', 'Wie ist Ihre Telefonnummer?', 'de'), 'open')
  t.equal(ends('4 4 1.', 'What is your order number?'), 'dictated', 'a full stop ends no number')
  t.equal(ends('M I L', 'How do you spell that?'), 'dictated')
  t.equal(ends('M I', 'How do you spell that?'), 'open', 'no name is shorter')
  t.equal(ends('4 4', 'What is your order number?'), 'open')
  t.equal(ends('my code is four four one', ''), 'dictated', 'three digits in a row are dictated, whatever was asked')
  t.equal(ends('We are four', 'How many people are you?'), 'plain')
  t.equal(ends('I lost it', 'What is your order number?'), 'plain', 'words that are no number')
  t.equal(ends("I don't have one.", asked), 'brief', 'a digit behind other words may be a word')
  t.equal(ends('7', asked), 'open', 'alone it is the first')
  t.equal(ends('I would like a', 'What is your order number?'), 'open', 'a letter, too')
  t.end()
})

test('a language without blanks has its endings, and takes no character for a letter', (t) => {
  t.equal(ends('予約したいんだけど', '', 'ja'), 'open')
  t.equal(ends('予約します。', '', 'ja'), 'closed')
  t.equal(ends('予約します', 'お電話番号をお願いします', 'ja'), 'plain')
  t.equal(ends('〇九〇', 'お電話番号をお願いします', 'ja'), 'open')
  t.end()
})

test('the surer the words, the shorter the silence, in every mode; nothing is shorter than where the recogniser ends the turn', (t) => {
  const surest: Ending[] = [
    'open',
    'loose',
    'told',
    'dictated',
    'plain',
    'brief',
    'bare',
    'closed',
    'answer',
    'question',
  ]
  for (const mode of ['eager', 'balanced', 'patient'] as const) {
    const silences = surest.map((ending) => silenceOf(ending, mode))
    t.same(
      silences,
      silences.toSorted((a, b) => b - a),
      mode,
    )
    t.ok(silences.every((ms) => ms >= silenceOf(undefined, mode)))
  }
  for (const ending of [...surest, 'unknown' as const, undefined]) {
    t.ok(silenceOf(ending, 'eager') <= silenceOf(ending))
    t.ok(silenceOf(ending) <= silenceOf(ending, 'patient'))
  }
  t.equal(silenceOf(undefined), 150)
  t.equal(silenceOf('question'), 150)
  t.equal(silenceOf('open', 'patient'), 3_000)
  t.end()
})

test('the longer the silence, the surer that the turn is over', (t) => {
  const surenesses = [0, 200, 300, 450, 1_000, 2_000, 10_000].map((ms) => probabilityOver('closed', ms))
  t.same(
    surenesses,
    surenesses.toSorted((a, b) => a - b),
  )
  t.ok(probabilityOver('closed', 500) > probabilityOver('open', 500))
  t.ok(surenesses.every((probability) => probability > 0 && probability < 1))
  t.end()
})
