import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_TWENTY = wordList(
  'null eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn sechzehn siebzehn achtzehn neunzehn',
)
const TENS = wordList('- - zwanzig dreissig vierzig funfzig sechzig siebzig achtzig neunzig')
const inside = (n: number): string => (n === 1 ? 'ein' : BELOW_TWENTY[n]!)

function cardinals(n: number): string[] {
  if (n === 1) return ['eins', 'ein', 'eine', 'einen', 'einem', 'einer']
  if (n === 2) return ['zwei', 'zwo']
  if (n < 20) return [BELOW_TWENTY[n]!]
  if (n < 100) {
    const ten = TENS[Math.floor(n / 10)]!
    if (n % 10 === 0) return [ten]
    const units = [inside(n % 10), ...(n % 10 === 2 ? ['zwo'] : [])]
    return units.flatMap((unit) => [`${unit}und${ten}`, `${unit} und ${ten}`, `${unit}und ${ten}`])
  }
  const hundreds = Math.floor(n / 100)
  const heads = [`${inside(hundreds)}hundert`, `${inside(hundreds)} hundert`, ...(hundreds === 1 ? ['hundert'] : [])]
  if (n % 100 === 0) return heads
  return heads.flatMap((head) =>
    cardinals(n % 100).flatMap((rest) => [
      `${head}${rest}`,
      `${head} ${rest}`,
      `${head}und${rest}`,
      `${head} und ${rest}`,
    ]),
  )
}

function ordinals(n: number): string[] {
  const odd: Record<number, string> = { 1: 'erst', 3: 'dritt', 7: 'siebt', 8: 'acht' }
  const stems = odd[n] === undefined ? cardinals(n).map((word) => (n < 20 ? `${word}t` : `${word}st`)) : [odd[n]!]
  return stems.flatMap((stem) => [`${stem}e`, `${stem}en`, `${stem}er`])
}

export const german: SpokenForms = {
  code: 'de',
  country: 'DE',
  cardinals,
  ordinals,
  thousand: ['tausend'],
  million: ['million', 'millionen'],
  hundred: ['hundert'],
  glued: true,
  digitWords: wordTable({ zwo: '2', fuenf: '5' }),
  looseDigits: new Set(wordList('ein eine einen einem einer')),
  repeats: wordTable({ doppel: 2, doppelt: 2, doppelte: 2, zweimal: 2, dreimal: 3, dreifach: 3, viermal: 4 }),
  decimal: ['komma', 'punkt'],
  minus: ['minus'],
  and: ['und'],
  money: wordList('euro euros franken dollar eur'),
  cents: wordList('cent cents rappen'),
  half: wordTable({ halb: 0.5, halbe: 0.5, einhalb: 0.5 }),
  marks: {
    at: phrases('at, att, aet, at zeichen, klammeraffe, klammer affe, affenschwanz, affe'),
    dot: phrases('punkt, dot'),
    dash: phrases('bindestrich, minus, strich, mittelstrich'),
    underscore: phrases('unterstrich, under score, underscore'),
    plus: ['plus'],
  },
  letterNames: wordTable({
    ypsilon: 'y',
    zett: 'z',
    zet: 'z',
    jot: 'j',
    ix: 'x',
    vau: 'v',
    ka: 'k',
    ha: 'h',
    eszett: 'ss',
    'scharfes s': 'ss',
    weh: 'w',
    kuh: 'q',
    pe: 'p',
    ef: 'f',
    ell: 'l',
    em: 'm',
    err: 'r',
    ess: 's',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'anton berta casar caesar dora emil friedrich gustav heinrich ida julius kaufmann konrad ludwig martha nordpol otto paula quelle richard samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias zeppelin aachen berlin chemnitz dusseldorf essen frankfurt goslar hamburg ingelheim jena koln leipzig munchen nurnberg offenbach potsdam quickborn rostock salzwedel tubingen unna volklingen wuppertal xanten zwickau marta',
    ),
  ]),
  asIn: phrases('wie, wie in, fur'),
  spellingNoise: new Set(wordList('gross grosses klein kleines geschrieben buchstabe dann und also')),
  leads: phrases(
    'also, ahm, ah, ja, gut, okay, ok, genau, mein name ist, der name ist, mein nachname ist, mein vorname ist, name ist, ich heisse, ich bin, hier ist, hier spricht, das ist, das ware, es ist, sie lautet, die lautet, lautet, meine, mein, die, der, das, den, am, e mail adresse, e mail, email, mail, mailadresse, emailadresse, adresse, nummer, telefonnummer, handynummer, ist, ware, wohne, ich wohne in der, ich wohne in, ich wohne am, ich wohne, in der, unter',
  ),
  trails: phrases(
    'bitte, danke, vielen dank, das wars, das war s, alles klein, alles zusammen, zusammen, alles kleingeschrieben',
  ),
  months: [
    ['januar', 'janner', 'jan'],
    ['februar', 'feber', 'feb'],
    ['marz'],
    ['april', 'apr'],
    ['mai'],
    ['juni', 'juno', 'jun'],
    ['juli', 'julei', 'jul'],
    ['august', 'aug'],
    ['september', 'sept', 'sep'],
    ['oktober', 'okt'],
    ['november', 'nov'],
    ['dezember', 'dez'],
  ],
  weekdays: [
    ['montag'],
    ['dienstag'],
    ['mittwoch'],
    ['donnerstag'],
    ['freitag'],
    ['samstag', 'sonnabend'],
    ['sonntag'],
  ],
  dates: {
    today: ['heute'],
    tomorrow: ['morgen'],
    dayAfterTomorrow: ['ubermorgen'],
    next: phrases('nachste woche, kommende woche'),
    inAWeek: phrases('in einer woche, heute in einer woche, in 1 woche'),
    inDays: /\bin (\d{1,3}) tag(?:en)?\b/u,
    inWeeks: /\bin (\d{1,2}) wochen?\b/u,
    monthFirst: false,
  },
  times: {
    noon: ['mittags um 12', 'mittag'],
    midnight: ['mitternacht'],
    am: phrases('morgens, fruh, vormittags, am morgen, am vormittag, nachts, in der fruh'),
    pm: phrases('nachmittags, abends, am nachmittag, am abend, mittags'),
    patterns: [
      { form: /\b(?<m>\d{1,2}) (?:minuten )?vor halb (?<h>\d{1,2})\b/u, subtract: true, add: -30 },
      { form: /\b(?<m>\d{1,2}) (?:minuten )?nach halb (?<h>\d{1,2})\b/u, add: -30 },
      { form: /\bhalb (?<h>\d{1,2})\b/u, add: -30 },
      { form: /\bviertel nach (?<h>\d{1,2})\b/u, add: 15 },
      { form: /\bviertel vor (?<h>\d{1,2})\b/u, add: -15 },
      { form: /\bdreiviertel (?<h>\d{1,2})\b/u, add: -15 },
      { form: /\bviertel (?<h>\d{1,2})\b/u, add: -45 },
      { form: /\b(?<m>\d{1,2}) (?:minuten )?nach (?<h>\d{1,2})\b/u },
      { form: /\b(?<m>\d{1,2}) (?:minuten )?vor (?<h>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2}) uhr (?:und )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})[:.](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2})\b(?: uhr)?/u },
    ],
  },
  corrections: {
    yes: phrases(
      'ja, jo, jawohl, genau, richtig, stimmt, das stimmt, korrekt, passt, das passt, das ist richtig, ist richtig, perfekt, exakt, so ist es, mhm, okay, ok, ja genau, ja stimmt, stimmt so',
    ),
    no: phrases(
      'nein, ne, nee, no, nicht ganz, falsch, das ist falsch, stimmt nicht, das stimmt nicht, leider nicht, fast, moment, nicht richtig, sorry, entschuldigung',
    ),
    last: phrases('letzte, letzten, letzter, letztes, am ende, am schluss, hinten, zum schluss, ende'),
    first: phrases('erste, ersten, erster, erstes, am anfang, vorne, anfang'),
    nth: [
      wordList('zweite zweiter zweites zweiten'),
      wordList('dritte dritter drittes dritten'),
      wordList('vierte vierter viertes vierten'),
      wordList('funfte funfter funftes funften'),
      wordList('sechste sechster sechstes sechsten'),
      wordList('siebte siebter siebtes siebten siebente'),
      wordList('achte achter achtes achten'),
      wordList('neunte neunter neuntes neunten'),
      wordList('zehnte zehnter zehntes zehnten'),
    ],
    lastButOne: wordList('vorletzte vorletzter vorletztes vorletzten'),
    swaps: [
      /\bnicht (?:die |der |das |mit |eine? )?(?<old>[\p{L}\p{N}]+) sondern (?:die |der |das |mit |eine? )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:statt|anstatt|anstelle von|und nicht|nicht) (?:der |die |das |einer? )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('mit'),
  },
  says: {
    ask: {
      name: 'Wie ist bitte Ihr Name?',
      email: 'Wie lautet Ihre E-Mail-Adresse?',
      phone: 'Wie lautet Ihre Telefonnummer?',
      date: 'Welches Datum wäre das?',
      time: 'Um wie viel Uhr?',
      address: 'Wie lautet die Adresse?',
      number: 'Wie viel, bitte?',
      digits: 'Wie lautet die Nummer, bitte?',
      choice: 'Was möchten Sie gern?',
      free: 'Was möchten Sie mir mitteilen?',
    },
    readBack: 'Ich habe {value} notiert. Stimmt das?',
    again: 'Das habe ich leider nicht verstanden. Können Sie es bitte langsam wiederholen?',
    wrong: 'Entschuldigung. Wie ist es richtig?',
    at: 'at',
    dot: 'Punkt',
    dash: 'Bindestrich',
    underscore: 'Unterstrich',
    plus: 'Plus',
  },
}
