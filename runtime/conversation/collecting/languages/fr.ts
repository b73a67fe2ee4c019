import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_SEVENTEEN = wordList(
  'zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize',
)
const TENS: Readonly<Record<number, readonly string[]>> = {
  2: ['vingt'],
  3: ['trente'],
  4: ['quarante'],
  5: ['cinquante'],
  6: ['soixante'],
  7: ['septante'],
  8: ['huitante', 'octante', 'quatre vingt', 'quatre vingts'],
  9: ['nonante'],
}

function cardinals(n: number): string[] {
  if (n === 1) return ['un', 'une']
  if (n < 17) return [BELOW_SEVENTEEN[n]!]
  if (n < 20) return [`dix ${BELOW_SEVENTEEN[n - 10]}`]
  if (n < 100) {
    const ten = Math.floor(n / 10)
    const unit = n % 10
    const plain = TENS[ten]!.flatMap((word) =>
      unit === 0
        ? [word]
        : unit === 1
          ? [`${word} et un`, `${word} un`, `${word} et une`]
          : [`${word} ${BELOW_SEVENTEEN[unit]}`],
    )
    if (ten !== 7 && ten !== 9) return plain
    const before = ten === 7 ? 'soixante' : 'quatre vingt'
    return [...plain, ...cardinals(unit + 10).flatMap((rest) => [`${before} ${rest}`, `${before} et ${rest}`])]
  }
  const hundreds = Math.floor(n / 100)
  const heads = hundreds === 1 ? ['cent'] : [`${BELOW_SEVENTEEN[hundreds]} cent`, `${BELOW_SEVENTEEN[hundreds]} cents`]
  if (n % 100 === 0) return heads
  return heads.flatMap((head) => cardinals(n % 100).map((rest) => `${head} ${rest}`))
}

export const french: SpokenForms = {
  code: 'fr',
  country: 'FR',
  cardinals,
  ordinals: (n) => (n === 1 ? ['premier', '1er'] : cardinals(n)),
  thousand: ['mille'],
  million: ['million', 'millions'],
  hundred: ['cent', 'cents'],
  glued: false,
  digitWords: wordTable({ oh: '0' }),
  looseDigits: new Set(wordList('un une oh')),
  repeats: wordTable({ double: 2, triple: 3 }),
  decimal: ['virgule', 'point'],
  minus: ['moins'],
  and: ['et'],
  money: wordList('euro euros franc francs dollar dollars'),
  cents: wordList('centime centimes cent cents'),
  half: wordTable({ demi: 0.5, demie: 0.5 }),
  marks: {
    at: phrases('arobase, arrobase, arobas, a commercial, at'),
    dot: phrases('point, dot'),
    dash: phrases('tiret, trait d union, tiret du 6'),
    underscore: phrases('underscore, tiret bas, souligne, tiret du 8'),
    plus: ['plus'],
  },
  letterNames: wordTable({
    'double ve': 'w',
    'i grec': 'y',
    zede: 'z',
    zed: 'z',
    ache: 'h',
    hache: 'h',
    elle: 'l',
    emme: 'm',
    enne: 'n',
    effe: 'f',
    erre: 'r',
    esse: 's',
    ixe: 'x',
    ji: 'j',
    cu: 'q',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'anatole berthe celestin desire eugene francois gaston henri irma joseph kleber louis marcel nicolas oscar pierre quintal raoul suzanne therese ursule victor william xavier yvonne zoe marie paul andre robert',
    ),
  ]),
  asIn: phrases('comme, comme dans, de'),
  spellingNoise: new Set(wordList('majuscule minuscule grand petit lettre puis et alors')),
  leads: phrases(
    'alors, euh, heu, ben, bon, oui, d accord, mon nom est, le nom est, je m appelle, je suis, c est, ce serait, ca serait, mon, ma, le, la, l, mon adresse est, adresse, adresse mail, adresse e mail, adresse email, mail, email, e mail, numero, numero de telephone, est, j habite au, j habite, au, a',
  ),
  trails: phrases(
    's il vous plait, s il te plait, merci, voila, c est tout, tout attache, en minuscules, tout en minuscules',
  ),
  months: [
    ['janvier'],
    ['fevrier'],
    ['mars'],
    ['avril'],
    ['mai'],
    ['juin'],
    ['juillet'],
    ['aout'],
    ['septembre'],
    ['octobre'],
    ['novembre'],
    ['decembre'],
  ],
  weekdays: [['lundi'], ['mardi'], ['mercredi'], ['jeudi'], ['vendredi'], ['samedi'], ['dimanche']],
  dates: {
    today: phrases('aujourd hui, ce soir'),
    tomorrow: ['demain'],
    dayAfterTomorrow: ['apres demain'],
    next: phrases('de la semaine prochaine, la semaine prochaine'),
    inAWeek: phrases('dans une semaine, dans 1 semaine, d ici une semaine, dans 8 jours'),
    inDays: /\bdans (\d{1,3}) jours?\b/u,
    inWeeks: /\bdans (\d{1,2}) semaines?\b/u,
    monthFirst: false,
  },
  times: {
    noon: ['midi'],
    midnight: ['minuit'],
    am: phrases('du matin, le matin'),
    pm: phrases('de l apres midi, du soir, le soir, l apres midi'),
    patterns: [
      { form: /\b(?<h>\d{1,2}) heures? et demie?\b/u, add: 30 },
      { form: /\b(?<h>\d{1,2}) heures? et quart\b/u, add: 15 },
      { form: /\b(?<h>\d{1,2}) heures? (?:moins|-) (?:le |un |1 )?quart\b/u, add: -15 },
      { form: /\b(?<h>\d{1,2}) heures? (?:moins|-) (?<m>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2}) ?h(?:eures?)? ?(?:et )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})[:.](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2})\b(?: ?h(?:eures?)?)?/u },
    ],
  },
  corrections: {
    yes: phrases(
      'oui, ouais, c est ca, c est bien ca, exact, exactement, tout a fait, c est exact, c est correct, correct, parfait, d accord, c est bon, voila, absolument, juste, c est juste, ok',
    ),
    no: phrases(
      'non, pas tout a fait, c est faux, faux, presque, pardon, erreur, pas exactement, ce n est pas ca, c est pas ca',
    ),
    last: phrases('dernier, derniere, derniers, dernieres, a la fin, fin'),
    first: phrases('premier, premiere, premiers, premieres, au debut, debut'),
    nth: [
      wordList('deuxieme second seconde'),
      ['troisieme'],
      ['quatrieme'],
      ['cinquieme'],
      ['sixieme'],
      ['septieme'],
      ['huitieme'],
      ['neuvieme'],
      ['dixieme'],
    ],
    lastButOne: phrases('avant dernier, avant derniere'),
    swaps: [
      /\bpas (?:un |une |le |la |de )?(?<old>[\p{L}\p{N}]+) mais (?:avec )?(?:un |une |le |la )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:au lieu d[eu]|a la place d[eu]|et pas|et non|pas) (?:un |une |le |la )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('avec'),
  },
  says: {
    ask: {
      name: 'Quel est votre nom, s’il vous plaît ?',
      email: 'Quelle est votre adresse e-mail ?',
      phone: 'Quel est votre numéro de téléphone ?',
      date: 'À quelle date ?',
      time: 'À quelle heure ?',
      address: 'Quelle est l’adresse ?',
      number: 'Combien, s’il vous plaît ?',
      digits: 'Quel est le numéro, s’il vous plaît ?',
      choice: 'Que préférez-vous ?',
      free: 'Que souhaitez-vous me dire ?',
    },
    readBack: 'J’ai noté {value}. C’est bien ça ?',
    again: 'Excusez-moi, je n’ai pas compris. Pouvez-vous répéter lentement ?',
    wrong: 'Excusez-moi. Qu’est-ce qui est correct ?',
    at: 'arobase',
    dot: 'point',
    dash: 'tiret',
    underscore: 'tiret bas',
    plus: 'plus',
  },
}
