import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_TWENTY = wordList(
  'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove',
)
const TENS = wordList('- - venti trenta quaranta cinquanta sessanta settanta ottanta novanta')

function cardinals(n: number): string[] {
  if (n === 1) return ['uno', 'un', 'una']
  if (n < 20) return [BELOW_TWENTY[n]!]
  if (n < 100) {
    const ten = TENS[Math.floor(n / 10)]!
    const unit = n % 10
    if (unit === 0) return [ten]
    const joined = unit === 1 || unit === 8 ? ten.slice(0, -1) : ten
    return [`${joined}${BELOW_TWENTY[unit]}`, `${ten} ${BELOW_TWENTY[unit]}`, ...(unit === 1 ? [`${joined}un`] : [])]
  }
  const hundreds = Math.floor(n / 100)
  const heads = hundreds === 1 ? ['cento'] : [`${BELOW_TWENTY[hundreds]}cento`, `${BELOW_TWENTY[hundreds]} cento`]
  if (n % 100 === 0) return heads
  return heads.flatMap((head) =>
    cardinals(n % 100).flatMap((rest) => [
      `${head}${rest}`,
      `${head} ${rest}`,
      ...(rest.startsWith('o') ? [`${head.slice(0, -1)}${rest}`] : []),
    ]),
  )
}

export const italian: SpokenForms = {
  code: 'it',
  country: 'IT',
  cardinals,
  ordinals: (n) => (n === 1 ? ['primo', 'uno'] : cardinals(n)),
  thousand: ['mila', 'mille'],
  million: ['milione', 'milioni'],
  hundred: [],
  glued: true,
  digitWords: new Map(),
  looseDigits: new Set(wordList('un una uno sei')),
  repeats: wordTable({ doppio: 2, doppia: 2, triplo: 3, tripla: 3 }),
  decimal: ['virgola', 'punto'],
  minus: ['meno'],
  and: ['e'],
  money: wordList('euro dollari dollaro franchi franco'),
  cents: wordList('centesimi centesimo'),
  half: wordTable({ mezzo: 0.5, mezza: 0.5 }),
  marks: {
    at: phrases('chiocciola, chiocciolina, at, et'),
    dot: phrases('punto, dot'),
    dash: phrases('trattino, meno, lineetta'),
    underscore: phrases('underscore, trattino basso, linea bassa, sottolineato'),
    plus: phrases('piu'),
  },
  letterNames: wordTable({
    bi: 'b',
    ci: 'c',
    di: 'd',
    effe: 'f',
    gi: 'g',
    acca: 'h',
    'i lunga': 'j',
    cappa: 'k',
    kappa: 'k',
    elle: 'l',
    emme: 'm',
    enne: 'n',
    pi: 'p',
    cu: 'q',
    erre: 'r',
    esse: 's',
    ti: 't',
    vu: 'v',
    vi: 'v',
    'doppia vu': 'w',
    'vu doppia': 'w',
    ics: 'x',
    ipsilon: 'y',
    'i greca': 'y',
    zeta: 'z',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'ancona bologna como domodossola empoli firenze genova hotel imola jolly kursaal livorno milano napoli otranto padova palermo quarto roma savona torino udine venezia washington yacht york zara',
    ),
  ]),
  asIn: phrases('come, di, come in'),
  spellingNoise: new Set(wordList('maiuscola maiuscolo minuscola minuscolo lettera poi e allora')),
  leads: phrases(
    'allora, ehm, eh, ah, si, bene, va bene, ecco, il mio nome e, il nome e, mi chiamo, sono, e, sarebbe, il, la, l, i, le, mio, mia, mail, email, e mail, indirizzo, indirizzo mail, numero, numero di telefono, abito in, vivo in, in, alle, alle ore',
  ),
  trails: phrases('per favore, grazie, ecco, basta, tutto qui, tutto attaccato, tutto minuscolo'),
  months: [
    ['gennaio'],
    ['febbraio'],
    ['marzo'],
    ['aprile'],
    ['maggio'],
    ['giugno'],
    ['luglio'],
    ['agosto'],
    ['settembre'],
    ['ottobre'],
    ['novembre'],
    ['dicembre'],
  ],
  weekdays: [['lunedi'], ['martedi'], ['mercoledi'], ['giovedi'], ['venerdi'], ['sabato'], ['domenica']],
  dates: {
    today: phrases('oggi, stasera'),
    tomorrow: ['domani'],
    dayAfterTomorrow: ['dopodomani', 'dopo domani'],
    next: phrases('della prossima settimana, della settimana prossima, la prossima settimana, la settimana prossima'),
    inAWeek: phrases('tra una settimana, fra una settimana, tra 1 settimana, fra 1 settimana'),
    inDays: /\b(?:tra|fra) (\d{1,3}) giorni?o?\b/u,
    inWeeks: /\b(?:tra|fra) (\d{1,2}) settiman[ae]\b/u,
    monthFirst: false,
  },
  times: {
    noon: ['mezzogiorno'],
    midnight: ['mezzanotte'],
    am: phrases('di mattina, del mattino, di mattino, della mattina'),
    pm: phrases('di pomeriggio, del pomeriggio, di sera, della sera'),
    patterns: [
      { form: /\b(?<h>\d{1,2}) e (?:mezza|mezzo)\b/u, add: 30 },
      { form: /\b(?<h>\d{1,2}) e (?:un |1 )?quarto\b/u, add: 15 },
      { form: /\b(?<h>\d{1,2}) e (?:tre|3) quarti\b/u, add: 45 },
      { form: /\b(?<h>\d{1,2}) meno (?:un |1 )?quarto\b/u, add: -15 },
      { form: /\b(?<h>\d{1,2}) meno (?<m>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2}) (?:e )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})[:.](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2})\b/u },
    ],
  },
  corrections: {
    yes: phrases(
      'si, esatto, giusto, corretto, e giusto, e corretto, perfetto, va bene, esattamente, certo, proprio cosi, ok, okay, d accordo',
    ),
    no: phrases('no, sbagliato, non proprio, quasi, scusi, e sbagliato, non e giusto, non e corretto, errore'),
    last: phrases('ultimo, ultima, ultimi, ultime, alla fine, in fondo, fine, finale'),
    first: phrases('primo, prima, primi, prime, all inizio, inizio'),
    nth: [
      wordList('secondo seconda'),
      wordList('terzo terza'),
      wordList('quarto quarta'),
      wordList('quinto quinta'),
      wordList('sesto sesta'),
      wordList('settimo settima'),
      wordList('ottavo ottava'),
      wordList('nono nona'),
      wordList('decimo decima'),
    ],
    lastButOne: wordList('penultimo penultima'),
    swaps: [
      /\bnon (?:e )?(?:un |una |il |la |con )?(?<old>[\p{L}\p{N}]+) (?:ma|bensi) (?:con )?(?:un |una |il |la )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:invece d[ei]l?|al posto d[ei]l?|e non|non) (?:un |una |il |la )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('con'),
  },
  says: {
    ask: {
      name: 'Come si chiama, per favore?',
      email: 'Qual è il suo indirizzo e-mail?',
      phone: 'Qual è il suo numero di telefono?',
      date: 'In che data?',
      time: 'A che ora?',
      address: 'Qual è l’indirizzo?',
      number: 'Quanto, per favore?',
      digits: 'Qual è il numero, per favore?',
      choice: 'Che cosa preferisce?',
      free: 'Che cosa desidera dirmi?',
    },
    readBack: 'Ho annotato {value}. È corretto?',
    again: 'Mi scusi, non ho capito. Può ripeterlo lentamente?',
    wrong: 'Mi scusi. Come è giusto?',
    at: 'chiocciola',
    dot: 'punto',
    dash: 'trattino',
    underscore: 'trattino basso',
    plus: 'più',
  },
}
