import { ROWS, type Row } from './spoken-rows.ts'

/** Spoken items: what a caller says in groups, what it means, and how they correct it once it is read back. */
export interface SpokenItem {
  readonly code: string
  readonly type: Row[0]
  /** Between groups there is a pause. */
  readonly groups: readonly string[]
  /** What the caller replies to the value read back; absent: yes. */
  readonly correction?: string
  /** The value in the end. */
  readonly value: string
  /** A yes. */
  readonly yes: string
}

const YES: Readonly<Record<string, string>> = {
  en: 'Yes, correct.',
  de: 'Ja, stimmt.',
  fr: 'Oui, c’est ça.',
  es: 'Sí, correcto.',
  it: 'Sì, esatto.',
  pt: 'Sim, isso.',
}

const DIGITS: Readonly<Record<string, readonly string[]>> = {
  en: 'zero one two three four five six seven eight nine'.split(' '),
  de: 'null eins zwei drei vier fünf sechs sieben acht neun'.split(' '),
  fr: 'zéro un deux trois quatre cinq six sept huit neuf'.split(' '),
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve'.split(' '),
  it: 'zero uno due tre quattro cinque sei sette otto nove'.split(' '),
  pt: 'zero um dois três quatro cinco seis sete oito nove'.split(' '),
}
const LAST: Readonly<Record<string, (digit: string) => string>> = {
  en: (digit) => `No, the last digit is ${digit}`,
  de: (digit) => `Nein, am Ende ${digit}`,
  fr: (digit) => `Non, le dernier chiffre est ${digit}`,
  es: (digit) => `No, al final ${digit}`,
  it: (digit) => `No, l'ultima cifra è ${digit}`,
  pt: (digit) => `Não, no final ${digit}`,
}

/** Ten numbers of a country, said digit by digit in groups. */
const NUMBERS: Readonly<Record<string, readonly (readonly [national: string, e164: string])[]>> = {
  en: [
    ['415 555 2671', '+14155552671'],
    ['212 736 5000', '+12127365000'],
    ['305 374 8800', '+13053748800'],
    ['617 253 1000', '+16172531000'],
    ['206 684 2489', '+12066842489'],
    ['312 744 5000', '+13127445000'],
    ['503 823 4000', '+15038234000'],
    ['702 229 6011', '+17022296011'],
    ['808 523 4385', '+18085234385'],
    ['907 343 7100', '+19073437100'],
  ],
  de: [
    ['0176 123 456 78', '+4917612345678'],
    ['030 227 32152', '+493022732152'],
    ['089 233 96500', '+498923396500'],
    ['040 428 283 031', '+4940428283031'],
    ['0151 234 567 89', '+4915123456789'],
    ['0221 221 23 456', '+4922122123456'],
    ['069 212 36 000', '+496921236000'],
    ['0711 216 91 234', '+4971121691234'],
    ['0160 987 654 32', '+4916098765432'],
    ['0351 488 24 68', '+493514882468'],
  ],
  fr: [
    ['06 12 34 56 78', '+33612345678'],
    ['01 42 76 40 40', '+33142764040'],
    ['07 81 92 03 14', '+33781920314'],
    ['04 91 55 11 11', '+33491551111'],
    ['05 56 10 20 30', '+33556102030'],
    ['02 99 67 11 11', '+33299671111'],
    ['03 88 60 90 90', '+33388609090'],
    ['06 98 76 54 32', '+33698765432'],
    ['01 53 09 82 82', '+33153098282'],
    ['06 70 80 91 02', '+33670809102'],
  ],
  es: [
    ['612 345 678', '+34612345678'],
    ['915 881 000', '+34915881000'],
    ['934 027 000', '+34934027000'],
    ['650 112 233', '+34650112233'],
    ['954 590 600', '+34954590600'],
    ['677 889 900', '+34677889900'],
    ['963 525 478', '+34963525478'],
    ['699 123 456', '+34699123456'],
    ['944 204 000', '+34944204000'],
    ['722 334 455', '+34722334455'],
  ],
  it: [
    ['347 123 4567', '+393471234567'],
    ['06 0606 123', '+39060606123'],
    ['02 884 62 345', '+390288462345'],
    ['333 987 6543', '+393339876543'],
    ['055 276 8224', '+390552768224'],
    ['328 456 7890', '+393284567890'],
    ['011 535 181', '+39011535181'],
    ['340 246 8024', '+393402468024'],
    ['081 795 1111', '+390817951111'],
    ['320 135 7913', '+393201357913'],
  ],
  pt: [
    ['11 98765 4321', '+5511987654321'],
    ['21 97654 3210', '+5521976543210'],
    ['31 3277 1234', '+553132771234'],
    ['41 99887 7665', '+5541998877665'],
    ['51 3289 5000', '+555132895000'],
    ['61 98123 4567', '+5561981234567'],
    ['71 3202 4321', '+557132024321'],
    ['81 99123 8765', '+5581991238765'],
    ['85 3105 1234', '+558531051234'],
    ['11 3113 9000', '+551131139000'],
  ],
}

const MARKS: Readonly<Record<string, readonly [at: string, dot: string, no: string]>> = {
  en: ['at', 'dot', 'No,'],
  de: ['at', 'Punkt', 'Nein,'],
  fr: ['arobase', 'point', 'Non,'],
  es: ['arroba', 'punto', 'No,'],
  it: ['chiocciola', 'punto', 'No,'],
  pt: ['arroba', 'ponto', 'Não,'],
}
const ADDRESSES: readonly (readonly [local: string, host: string, end: string])[] = [
  ['anna schmidt', 'gmail', 'com'],
  ['j o h n', 'example', 'org'],
  ['maria', 'hotmail', 'com'],
  ['info', 'aurora', 'net'],
  ['p e t r a', 'outlook', 'com'],
  ['luca rossi', 'yahoo', 'com'],
  ['office', 'acme', 'io'],
  ['k 9 4 2', 'mail', 'com'],
  ['sofia', 'icloud', 'com'],
  ['b o b 7', 'proton', 'me'],
]

function phones(code: string): Row[] {
  return NUMBERS[code]!.map(([national, e164], i) => {
    const say = (digits: string): string => [...digits].map((digit) => DIGITS[code]![Number(digit)]).join(' ')
    const said = national.split(' ').map(say).join(' | ')
    if (i % 2 === 0) return ['phone', said, e164]
    const digit = (Number(e164.at(-1)) + 3) % 10
    return ['phone', said, e164, LAST[code]!(DIGITS[code]![digit]!), e164.slice(0, -1) + digit]
  })
}

function emails(code: string): Row[] {
  const [at, dot, no] = MARKS[code]!
  return ADDRESSES.map(([local, host, end], i) => {
    const name =
      local.includes(' ') && local.split(' ').every((part) => part.length > 1) ? local.replace(' ', ` ${dot} `) : local
    const said = `${name} | ${at} ${host} | ${dot} ${end}`
    const written = `${name.replace(` ${dot} `, '.').replaceAll(' ', '')}@${host}.${end}`
    if (i % 2 === 0) return ['email', said, written]
    return ['email', said, written, `${no} ${at} posteo ${dot} net`, `${written.split('@')[0]}@posteo.net`]
  })
}

/** Three hundred items, fifty in each language, half of them with a correction. */
export function spokenItems(): SpokenItem[] {
  return Object.keys(ROWS).flatMap((code) =>
    [...phones(code), ...emails(code), ...ROWS[code]!].map(([type, said, first, correction, value = first]) => ({
      code,
      type,
      groups: said.split(' | '),
      ...(correction === undefined ? {} : { correction }),
      value,
      yes: YES[code]!,
    })),
  )
}
