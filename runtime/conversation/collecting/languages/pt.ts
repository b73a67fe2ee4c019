import { NATO, phrases, type SpokenForms, wordList, wordTable } from '../spoken-forms.ts'

const BELOW_TWENTY = wordList(
  'zero um dois tres quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove',
)
const OTHER: Readonly<Record<number, readonly string[]>> = {
  1: ['uma'],
  2: ['duas'],
  14: ['quatorze'],
  16: ['dezasseis'],
  17: ['dezassete'],
  19: ['dezanove'],
}
const TENS = wordList('- - vinte trinta quarenta cinquenta sessenta setenta oitenta noventa')
const HUNDREDS = wordList(
  '- cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos novecentos',
)

function cardinals(n: number): string[] {
  if (n < 20) return [BELOW_TWENTY[n]!, ...(OTHER[n] ?? [])]
  if (n < 100) {
    const ten = TENS[Math.floor(n / 10)]!
    return n % 10 === 0 ? [ten] : cardinals(n % 10).map((unit) => `${ten} e ${unit}`)
  }
  if (n === 100) return ['cem', 'cento']
  const head = HUNDREDS[Math.floor(n / 100)]!
  const heads = [head, ...(n >= 200 ? [head.replace(/os$/, 'as')] : [])]
  return n % 100 === 0 ? heads : heads.flatMap((one) => cardinals(n % 100).map((rest) => `${one} e ${rest}`))
}

export const portuguese: SpokenForms = {
  code: 'pt',
  country: 'BR',
  cardinals,
  ordinals: (n) => (n === 1 ? ['primeiro', 'um'] : cardinals(n)),
  thousand: ['mil'],
  million: ['milhao', 'milhoes'],
  hundred: [],
  glued: false,
  digitWords: wordTable({ meia: '6' }),
  looseDigits: new Set(wordList('um uma meia')),
  repeats: wordTable({ duplo: 2, dupla: 2, dobro: 2, triplo: 3, tripla: 3 }),
  decimal: ['virgula', 'ponto'],
  minus: ['menos'],
  and: ['e'],
  money: wordList('euro euros real reais dolar dolares'),
  cents: wordList('centavo centavos centimo centimos'),
  half: wordTable({ meio: 0.5 }),
  marks: {
    at: phrases('arroba, at'),
    dot: phrases('ponto'),
    dash: phrases('hifen, traco, tracinho'),
    underscore: phrases('underline, underscore, sublinhado, traco baixo'),
    plus: ['mais'],
  },
  letterNames: wordTable({
    be: 'b',
    ce: 'c',
    efe: 'f',
    ge: 'g',
    aga: 'h',
    jota: 'j',
    ka: 'k',
    capa: 'k',
    ele: 'l',
    eme: 'm',
    ene: 'n',
    pe: 'p',
    que: 'q',
    erre: 'r',
    esse: 's',
    te: 't',
    ve: 'v',
    dabliu: 'w',
    'duplo ve': 'w',
    xis: 'x',
    ipsilon: 'y',
    'i grego': 'y',
    ze: 'z',
  }),
  spellingWords: new Set([
    ...NATO,
    ...wordList(
      'aveiro amor braga bola coimbra casa dado evora faro faca guarda gato horta italia igreja jose lisboa maria navio nazare ovar pato porto queijo quarto rato rei setubal sapo tavira tatu unidade uva viseu vila xadrez zebra',
    ),
  ]),
  asIn: phrases('de, como, como em'),
  spellingNoise: new Set(wordList('maiuscula maiusculo minuscula minusculo letra depois e entao')),
  leads: phrases(
    'entao, eh, hum, ah, sim, bom, bem, ta, o meu nome e, meu nome e, o nome e, me chamo, chamo me, eu sou, sou, e, seria, o, a, os, as, meu, minha, email, e mail, endereco, correio, numero, numero de telefone, telefone, moro na, moro no, moro em, vivo na, vivo em, as',
  ),
  trails: phrases('por favor, obrigado, obrigada, e isso, so isso, tudo junto, tudo minusculo, em minusculas'),
  months: [
    ['janeiro'],
    ['fevereiro'],
    ['marco'],
    ['abril'],
    ['maio'],
    ['junho'],
    ['julho'],
    ['agosto'],
    ['setembro'],
    ['outubro'],
    ['novembro'],
    ['dezembro'],
  ],
  weekdays: [
    ['segunda feira', 'segunda'],
    ['terca feira', 'terca'],
    ['quarta feira', 'quarta'],
    ['quinta feira', 'quinta'],
    ['sexta feira', 'sexta'],
    ['sabado'],
    ['domingo'],
  ],
  dates: {
    today: phrases('hoje, esta noite'),
    tomorrow: ['amanha'],
    dayAfterTomorrow: ['depois de amanha'],
    next: phrases('da semana que vem, da proxima semana, na semana que vem, na proxima semana'),
    inAWeek: phrases('daqui a uma semana, em uma semana, daqui a 1 semana, em 1 semana, numa semana'),
    inDays: /\b(?:daqui a|em|dentro de) (\d{1,3}) dias?\b/u,
    inWeeks: /\b(?:daqui a|em|dentro de) (\d{1,2}) semanas?\b/u,
    monthFirst: false,
  },
  times: {
    noon: ['meio dia'],
    midnight: ['meia noite'],
    am: phrases('da manha, de manha, da madrugada'),
    pm: phrases('da tarde, da noite, a noite, a tarde'),
    patterns: [
      { form: /\b(?<h>\d{1,2})(?: horas?)? e meia\b/u, add: 30 },
      { form: /\b(?<h>\d{1,2}) e (?:um |1 )?quarto\b/u, add: 15 },
      { form: /\b(?:um |1 )?quarto para as? (?<h>\d{1,2})\b/u, add: -15 },
      { form: /\b(?<h>\d{1,2}) menos (?:um |1 )?quarto\b/u, add: -15 },
      { form: /\b(?<m>\d{1,2}) para as? (?<h>\d{1,2})\b/u, subtract: true },
      { form: /\b(?<h>\d{1,2})(?: ?h(?:oras?)?)? (?:e )?(?<m>\d{1,2})\b/u },
      { form: /\b(?<h>\d{1,2})[:.h](?<m>\d{2})\b/u },
      { form: /\b(?<h>\d{1,2})\b(?: ?h(?:oras?)?)?/u },
    ],
  },
  corrections: {
    yes: phrases(
      'sim, isso, isso mesmo, exato, exatamente, correto, certo, esta certo, ta certo, esta correto, perfeito, claro, ok, pode ser, e isso, e isso mesmo, certinho',
    ),
    no: phrases(
      'nao, errado, nao exatamente, quase, desculpe, desculpa, esta errado, ta errado, nao e isso, incorreto',
    ),
    last: phrases('ultimo, ultima, ultimos, ultimas, no fim, no final, final, fim'),
    first: phrases('primeiro, primeira, primeiros, primeiras, no inicio, no comeco, inicio, comeco'),
    nth: [
      wordList('segundo segunda'),
      wordList('terceiro terceira'),
      wordList('quarto quarta'),
      wordList('quinto quinta'),
      wordList('sexto sexta'),
      wordList('setimo setima'),
      wordList('oitavo oitava'),
      wordList('nono nona'),
      wordList('decimo decima'),
    ],
    lastButOne: wordList('penultimo penultima'),
    swaps: [
      /\bnao (?:e )?(?:um |uma |o |a |com )?(?<old>[\p{L}\p{N}]+) (?:mas|e sim|mas sim) (?:com )?(?:um |uma |o |a )?(?<new>[\p{L}\p{N}]+)\b/u,
      /\b(?<new>[\p{L}\p{N}]+) (?:em vez d[eoa]|no lugar d[eoa]|ao inves d[eoa]|e nao|nao) (?:um |uma |o |a )?(?<old>[\p{L}\p{N}]+)\b/u,
    ],
    spelt: phrases('com'),
  },
  says: {
    ask: {
      name: 'Qual é o seu nome, por favor?',
      email: 'Qual é o seu e-mail?',
      phone: 'Qual é o seu número de telefone?',
      date: 'Em que data?',
      time: 'A que horas?',
      address: 'Qual é o endereço?',
      number: 'Quanto, por favor?',
      digits: 'Qual é o número, por favor?',
      choice: 'O que prefere?',
      free: 'O que gostaria de me dizer?',
    },
    readBack: 'Anotei {value}. Está correto?',
    again: 'Desculpe, não entendi. Pode repetir devagar?',
    wrong: 'Desculpe. Qual é o certo?',
    at: 'arroba',
    dot: 'ponto',
    dash: 'hífen',
    underscore: 'sublinhado',
    plus: 'mais',
  },
}
