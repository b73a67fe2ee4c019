import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_TWENTY = wordList(
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen',
)
const TENS = wordList('- - twenty thirty forty fifty sixty seventy eighty ninety')
const ORDINALS = wordList(
  '- first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth',
)

function cardinals(n: number): string[] {
  if (n < 20) return [BELOW_TWENTY[n]!]
  if (n < 100) {
    const tens = [TENS[Math.floor(n / 10)]!, ...(n < 50 && n >= 40 ? ['fourty'] : [])]
    return n % 10 === 0 ? tens : tens.map((ten) => `${ten} ${BELOW_TWENTY[n % 10]}`)
  }
  const hundreds = Math.floor(n / 100)
  const heads = [`${BELOW_TWENTY[hundreds]} hundred`, ...(hundreds === 1 ? ['a hundred'] : [])]
  if (n % 100 === 0) return heads
  return heads.flatMap((head) => cardinals(n % 100).flatMap((rest) => [`${head} ${rest}`, `${head} and ${rest}`]))
}

function ordinals(n: number): string[] {
  if (n <= 20) return [ORDINALS[n]!]
  return n === 30 ? ['thirtieth'] : [`${TENS[Math.floor(n / 10)]} ${ORDINALS[n % 10]}`]
}

export const english: SpokenForms = {
  code: 'en',
  country: 'US',
  cardinals,
  ordinals,
  thousand: ['thousand'],
  million: ['million', 'millions'],
  hundred: ['hundred'],
  glued: false,
  digitWords: wordTable({ oh: '0', o: '0', nought: '0', null: '0', niner: '9' }),
  looseDigits: new Set(wordList('oh o one null')),
  repeats: wordTable({ double: 2, triple: 3, treble: 3, quadruple: 4 }),
  decimal: ['point'],
  minus: ['minus', 'negative'],
  and: ['and'],
  money: wordList('dollar dollars euro euros pound pounds buck bucks franc francs'),
  cents: wordList('cent cents penny pence'),
  half: wordTable({ half: 0.5 }),
  marks: {
    at: phrases('at sign, at symbol, at'),
    dot: phrases('dot, point, period, full stop'),
    dash: phrases('dash, hyphen, minus'),
    underscore: phrases('underscore, under score, underline'),
    plus: ['plus'],
  },
  letterNames: wordTable({
    ay: 'a',
    bee: 'b',
    cee: 'c',
    dee: 'd',
    ef: 'f',
    gee: 'g',
    aitch: 'h',
    jay: 'j',
    kay: 'k',
    el: 'l',
    em: 'm',
    en: 'n',
    pee: 'p',
    cue: 'q',
    ar: 'r',
    ess: 's',
    tee: 't',
    vee: 'v',
    'double u': 'w',
    ex: 'x',
    zed: 'z',
    zee: 'z',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'adam baker david edward frank george henry ida john king lincoln mary nora ocean peter queen robert sam sugar thomas tom union victor william young zebra apple boy cat dog nancy edward',
    ),
  ]),
  asIn: phrases('as in, for, like in, like, as'),
  spellingNoise: new Set(
    wordList('capital uppercase lowercase upper lower case small letter then and spelled spelt thats'),
  ),
  leads: phrases(
    'so, um, uh, er, well, okay, ok, yes, yeah, sure, right, my name is, name is, the name is, my name s, my, i am, i m, im, it is, it s, its, this is, that is, that s, thats, the, email, e mail, mail, address, email address, e mail address, number, phone number, is, here is, here s, i live at, we live at, you can reach me at, it would be, would be, let s say, lets say, make it, first name, last name, surname',
  ),
  trails: phrases('please, thanks, thank you, that s it, thats it, that is it, okay, that s all, all together'),
  months: [
    ['january', 'jan'],
    ['february', 'feb'],
    ['march', 'mar'],
    ['april', 'apr'],
    ['may'],
    ['june', 'jun'],
    ['july', 'jul'],
    ['august', 'aug'],
    ['september', 'sept', 'sep'],
    ['october', 'oct'],
    ['november', 'nov'],
    ['december', 'dec'],
  ],
  weekdays: [['monday'], ['tuesday'], ['wednesday'], ['thursday'], ['friday'], ['saturday'], ['sunday']],
  dates: {
    today: ['today', 'tonight'],
    tomorrow: ['tomorrow'],
    dayAfterTomorrow: ['day after tomorrow'],
    next: ['next'],
    inAWeek: ['in a week', 'a week from today', 'a week from now'],
    inDays: /\bin (\d{1,3}) days?\b/u,
    inWeeks: /\bin (\d{1,2}) weeks?\b/u,
    monthFirst: true,
  },
  times: {
    noon: ['noon', 'midday'],
    midnight: ['midnight'],
    am: phrases('am, a m, in the morning, morning'),
    pm: phrases('pm, p m, in the afternoon, in the evening, at night, afternoon, evening, tonight'),
    patterns: [
      { form: /\bhalf (?:past )?(?<h>\d{1,2})\b/u, add: 30 },
      { form: /\b(?:a )?quarter (?:past|after) (?<h>\d{1,2})\b/u, add: 15 },
      { form: /\b(?:a )?quarter (?:to|of|till|before) (?<h>\d{1,2})\b/u, add: -15 },
      { form: /\b(?<m>\d{1,2}) (?:minutes? )?(?:past|after) (?<h>\d{1,2})\b/u },
      { form: /\b(?<m>\d{1,2}) (?:minutes? )?(?:to|till|before) (?<h>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2})[:.](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2}) (?:0 )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})\b(?: o clock)?/u },
    ],
  },
  corrections: {
    yes: phrases(
      'yes, yeah, yep, yup, correct, right, that s right, thats right, exactly, perfect, that is right, that is correct, sure, that s it, absolutely, uh huh, mhm, ok, okay, sounds good, all good, it is',
    ),
    no: phrases(
      'no, nope, not quite, wrong, incorrect, that s wrong, that is wrong, almost, sorry, actually, not right',
    ),
    last: phrases('last, at the end, final, in the end, end'),
    first: phrases('first, at the beginning, at the start, beginning'),
    nth: [['second'], ['third'], ['fourth'], ['fifth'], ['sixth'], ['seventh'], ['eighth'], ['ninth'], ['tenth']],
    lastButOne: phrases('second to last, second last, last but one, next to last'),
    swaps: [
      /\bnot (?:an? |the )?(?<old>[\p{L}\p{N}]+) (?:but|its|it s|rather)(?: with)? (?:an? )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:instead of|not|rather than) (?:an? |the )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('with'),
  },
  says: {
    ask: {
      name: 'What is your name, please?',
      email: 'What is your e-mail address?',
      phone: 'What is your phone number?',
      date: 'Which date would that be?',
      time: 'At what time?',
      address: 'What is the address?',
      number: 'How much, or how many?',
      digits: 'What is the number, please?',
      choice: 'Which one would you like?',
      free: 'What would you like to say?',
    },
    readBack: 'I have {value}. Is that right?',
    again: "Sorry, I didn't get that. Could you say it again, slowly?",
    wrong: 'Sorry. What should it be?',
    at: 'at',
    dot: 'dot',
    dash: 'dash',
    underscore: 'underscore',
    plus: 'plus',
  },
}
