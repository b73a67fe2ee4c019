import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_THIRTY = wordList(
  'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve',
)
const TENS = wordList('- diez veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa')
const HUNDREDS = wordList(
  '- ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos',
)

function cardinals(n: number): string[] {
  if (n === 1) return ['uno', 'un', 'una']
  const ten = Math.floor(n / 10)
  if (n < 30) {
    const apart = n > 15 && n % 10 > 0 ? [`${TENS[ten]} y ${BELOW_THIRTY[n % 10]}`] : []
    return [BELOW_THIRTY[n]!, ...(n === 21 ? ['veintiun', 'veintiuna'] : []), ...apart]
  }
  if (n < 100) return n % 10 === 0 ? [TENS[ten]!] : cardinals(n % 10).map((unit) => `${TENS[ten]} y ${unit}`)
  const head = HUNDREDS[Math.floor(n / 100)]!
  if (n === 100) return ['cien', 'ciento']
  const heads = [head, ...(n >= 200 ? [head.replace(/os$/, 'as')] : [])]
  return n % 100 === 0 ? heads : heads.flatMap((one) => cardinals(n % 100).map((rest) => `${one} ${rest}`))
}

export const spanish: SpokenForms = {
  code: 'es',
  country: 'ES',
  cardinals,
  ordinals: (n) => (n === 1 ? ['primero', 'primer', 'uno'] : cardinals(n)),
  thousand: ['mil'],
  million: ['millon', 'millones'],
  hundred: [],
  glued: false,
  digitWords: new Map(),
  looseDigits: new Set(wordList('un una uno')),
  repeats: wordTable({ doble: 2, triple: 3 }),
  decimal: ['coma', 'punto', 'con'],
  minus: ['menos'],
  and: ['y'],
  money: wordList('euro euros peso pesos dolar dolares'),
  cents: wordList('centimo centimos centavo centavos'),
  half: wordTable({ medio: 0.5, media: 0.5 }),
  marks: {
    at: phrases('arroba, at'),
    dot: phrases('punto'),
    dash: phrases('guion, guion medio'),
    underscore: phrases('guion bajo, subrayado, barra baja'),
    plus: ['mas'],
  },
  letterNames: wordTable({
    be: 'b',
    ce: 'c',
    efe: 'f',
    ge: 'g',
    hache: 'h',
    jota: 'j',
    ka: 'k',
    ele: 'l',
    eme: 'm',
    ene: 'n',
    pe: 'p',
    cu: 'q',
    erre: 'r',
    ere: 'r',
    ese: 's',
    te: 't',
    uve: 'v',
    ve: 'v',
    'uve doble': 'w',
    'doble ve': 'w',
    'doble uve': 'w',
    equis: 'x',
    'i griega': 'y',
    ye: 'y',
    zeta: 'z',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'antonio barcelona burgos carmen dolores enrique espana francia granada gerona historia huelva ines italia jose kilo lorenzo lugo madrid maria navarra oviedo paris palencia queso ramon sabado sevilla toledo tarragona ulises valencia washington xiquena yegua zaragoza zamora',
    ),
  ]),
  asIn: phrases('de, como, como en'),
  spellingNoise: new Set(wordList('mayuscula minuscula letra luego y entonces')),
  leads: phrases(
    'pues, eh, em, a ver, si, bueno, vale, mi nombre es, el nombre es, me llamo, soy, es, seria, mi, el, la, los, las, correo, correo electronico, email, e mail, mail, direccion, numero, numero de telefono, telefono, vivo en, en',
  ),
  trails: phrases('por favor, gracias, ya esta, eso es todo, todo junto, en minusculas, todo en minusculas'),
  months: [
    ['enero'],
    ['febrero'],
    ['marzo'],
    ['abril'],
    ['mayo'],
    ['junio'],
    ['julio'],
    ['agosto'],
    ['septiembre', 'setiembre'],
    ['octubre'],
    ['noviembre'],
    ['diciembre'],
  ],
  weekdays: [['lunes'], ['martes'], ['miercoles'], ['jueves'], ['viernes'], ['sabado'], ['domingo']],
  dates: {
    today: ['hoy', 'esta noche'],
    tomorrow: ['manana'],
    dayAfterTomorrow: ['pasado manana'],
    next: phrases('de la semana que viene, de la proxima semana, la semana que viene, la proxima semana'),
    inAWeek: phrases('en una semana, dentro de una semana, en 1 semana, dentro de 1 semana'),
    inDays: /\b(?:en|dentro de) (\d{1,3}) dias?\b/u,
    inWeeks: /\b(?:en|dentro de) (\d{1,2}) semanas?\b/u,
    monthFirst: false,
  },
  times: {
    noon: ['mediodia', 'medio dia'],
    midnight: ['medianoche', 'media noche'],
    am: phrases('de la manana, por la manana, de la madrugada, am, a m'),
    pm: phrases('de la tarde, por la tarde, de la noche, por la noche, pm, p m'),
    patterns: [
      { form: /\b(?<h>\d{1,2}) y media\b/u, add: 30 },
      { form: /\b(?<h>\d{1,2}) y cuarto\b/u, add: 15 },
      { form: /\b(?<h>\d{1,2}) menos cuarto\b/u, add: -15 },
      { form: /\bcuarto para (?:las?|l[ao]s) (?<h>\d{1,2})\b/u, add: -15 },
      { form: /\b(?<h>\d{1,2}) menos (?<m>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2}) (?:horas )?(?:y )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})[:.](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2})\b/u },
    ],
  },
  corrections: {
    yes: phrases(
      'si, correcto, exacto, eso es, asi es, perfecto, vale, de acuerdo, esta bien, muy bien, es correcto, exactamente, claro, ok, okey',
    ),
    no: phrases('no, incorrecto, no exactamente, casi, perdon, esta mal, no es eso, no es correcto, equivocado'),
    last: phrases('ultimo, ultima, ultimos, ultimas, al final, final'),
    first: phrases('primero, primera, primeros, primeras, primer, al principio, al comienzo, principio'),
    nth: [
      wordList('segundo segunda'),
      wordList('tercero tercera tercer'),
      wordList('cuarto cuarta'),
      wordList('quinto quinta'),
      wordList('sexto sexta'),
      wordList('septimo septima'),
      wordList('octavo octava'),
      wordList('noveno novena'),
      wordList('decimo decima'),
    ],
    lastButOne: phrases('penultimo, penultima'),
    swaps: [
      /\bno (?:es )?(?:un |una |el |la )?(?<old>[\p{L}\p{N}]+) sino (?:con )?(?:un |una |el |la )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:en vez de|en lugar de|y no|no) (?:un |una |el |la )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('con'),
  },
  says: {
    ask: {
      name: '¿Cuál es su nombre, por favor?',
      email: '¿Cuál es su correo electrónico?',
      phone: '¿Cuál es su número de teléfono?',
      date: '¿Qué fecha sería?',
      time: '¿A qué hora?',
      address: '¿Cuál es la dirección?',
      number: '¿Cuánto, por favor?',
      digits: '¿Cuál es el número, por favor?',
      choice: '¿Qué prefiere?',
      free: '¿Qué desea decirme?',
    },
    readBack: 'He anotado {value}. ¿Es correcto?',
    again: 'Perdone, no le he entendido. ¿Puede repetirlo despacio?',
    wrong: 'Perdone. ¿Cómo es correcto?',
    at: 'arroba',
    dot: 'punto',
    dash: 'guion',
    underscore: 'guion bajo',
    plus: 'más',
  },
}
