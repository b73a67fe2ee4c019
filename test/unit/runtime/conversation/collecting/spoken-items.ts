/** Spoken items: what a caller says in groups, what it means, and how they correct it once it is read back. */
export interface SpokenItem {
  readonly code: string
  readonly type: 'phone' | 'email' | 'date' | 'name' | 'number' | 'address'
  /** Between groups there is a pause. */
  readonly groups: readonly string[]
  /** What is read out of them. */
  readonly first: string
  /** What the caller replies to the value read back; absent: yes. */
  readonly correction?: string
  /** The value in the end. */
  readonly value: string
  /** A yes. */
  readonly yes: string
}

type Row = readonly [type: SpokenItem['type'], said: string, first: string, correction?: string, value?: string]

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

const OTHERS: Readonly<Record<string, readonly Row[]>> = {
  en: [
    ['date', 'the third | of March', '2027-03-03'],
    ['date', 'December | twenty fourth', '2026-12-24', 'No, the twenty sixth', '2026-12-26'],
    ['date', 'the first of May | two thousand twenty seven', '2027-05-01'],
    ['date', 'July fourth | nineteen eighty five', '1985-07-04', 'No, in June', '1985-06-04'],
    ['date', 'in two weeks', '2026-12-12'],
    ['date', 'next | Tuesday', '2026-12-01', 'No, the third of December', '2026-12-03'],
    ['date', 'January | fifteenth', '2027-01-15'],
    ['date', 'tomorrow', '2026-11-29', 'No, on Monday', '2026-11-30'],
    ['name', 'Anna | Schmidt', 'Anna Schmidt'],
    ['name', 'Meyer | M E Y | E R', 'Meyer', 'No, with an i', 'Meier'],
    ['name', 'my name is | Peter Jones', 'Peter Jones'],
    ['name', 'S M I | double T', 'Smitt', 'No, S M I T H', 'Smith'],
    ['name', 'Clark | C L A R K', 'Clark'],
    ['name', 'Jon Doe', 'Jon Doe', 'No, J O H N', 'John Doe'],
    ['name', 'Kate | K for kilo A T E', 'Kate'],
    ['name', 'Eva Brown', 'Eva Brown', 'No, Eve Brown', 'Eve Brown'],
    ['number', 'twenty | four', '24'],
    ['number', 'one thousand | two hundred fifty', '1250', 'No, one thousand three hundred', '1300'],
    ['number', 'twelve point | five', '12.5'],
    ['number', 'eighty dollars', '80', 'No, eighty five', '85'],
    ['number', 'three hundred and twelve', '312'],
    ['number', 'two and a half', '2.5', 'No, three', '3'],
    ['address', 'twenty four Main Street | Springfield', '24 Main Street, Springfield'],
    [
      'address',
      '7 Mill Lane | nine oh two one oh | Beverly Hills',
      '7 Mill Lane, 90210, Beverly Hills',
      'No, number nine',
      '9 Mill Lane, 90210, Beverly Hills',
    ],
    ['address', 'I live at 12 Park Avenue | New York', '12 Park Avenue, New York'],
    ['address', 'fifty one Oak Road | Boston', '51 Oak Road, Boston', 'No, number fifty two', '52 Oak Road, Boston'],
    ['address', '8 High Street | Leeds', '8 High Street, Leeds'],
    ['address', '3 Queen Street | Bath', '3 Queen Street, Bath', 'No, number thirty', '30 Queen Street, Bath'],
    ['date', 'August | second', '2027-08-02'],
    ['number', 'ninety nine', '99', 'No, ninety eight', '98'],
  ],
  de: [
    ['date', 'am dritten | März', '2027-03-03'],
    ['date', 'vierundzwanzigster | Dezember', '2026-12-24', 'Nein, am sechsundzwanzigsten', '2026-12-26'],
    ['date', 'erster Mai | zweitausendsiebenundzwanzig', '2027-05-01'],
    ['date', 'vierter Juli | neunzehnhundertfünfundachtzig', '1985-07-04', 'Nein, im Juni', '1985-06-04'],
    ['date', 'in zwei Wochen', '2026-12-12'],
    ['date', 'am Dienstag', '2026-12-01', 'Nein, am dritten Dezember', '2026-12-03'],
    ['date', 'fünfzehnter | Januar', '2027-01-15'],
    ['date', 'morgen', '2026-11-29', 'Nein, am Montag', '2026-11-30'],
    ['name', 'Anna | Schmidt', 'Anna Schmidt'],
    ['name', 'Meyer | M E Y | E R', 'Meyer', 'Nein, mit i', 'Meier'],
    ['name', 'mein Name ist | Peter Huber', 'Peter Huber'],
    ['name', 'S C H M I | doppel T', 'Schmitt', 'Nein, S C H M I D T', 'Schmidt'],
    ['name', 'Bauer | B A U E R', 'Bauer'],
    ['name', 'Jon Maier', 'Jon Maier', 'Nein, J O H N', 'John Maier'],
    ['name', 'Kai | K wie Konrad A I', 'Kai'],
    ['name', 'Eva Braun', 'Eva Braun', 'Nein, Eva Brauner', 'Eva Brauner'],
    ['number', 'vierundzwanzig', '24'],
    ['number', 'eintausend | zweihundertfünfzig', '1250', 'Nein, eintausenddreihundert', '1300'],
    ['number', 'zwölf Komma | fünf', '12.5'],
    ['number', 'achtzig Euro', '80', 'Nein, fünfundachtzig', '85'],
    ['number', 'dreihundertzwölf', '312'],
    ['number', 'zweieinhalb', '2.5', 'Nein, drei', '3'],
    ['address', 'Hauptstraße vierundzwanzig | Berlin', 'Hauptstraße 24, Berlin'],
    [
      'address',
      'Mühlweg 7 | acht null drei drei eins | München',
      'Mühlweg 7, 80331, München',
      'Nein, Hausnummer neun',
      'Mühlweg 9, 80331, München',
    ],
    ['address', 'ich wohne in der Parkallee 12 | Hamburg', 'Parkallee 12, Hamburg'],
    [
      'address',
      'Eichenweg einundfünfzig | Köln',
      'Eichenweg 51, Köln',
      'Nein, Nummer zweiundfünfzig',
      'Eichenweg 52, Köln',
    ],
    ['address', 'Hochstraße 8 | Essen', 'Hochstraße 8, Essen'],
    ['address', 'Ringstraße 3 | Ulm', 'Ringstraße 3, Ulm', 'Nein, Nummer dreißig', 'Ringstraße 30, Ulm'],
    ['date', 'zweiter | August', '2027-08-02'],
    ['number', 'neunundneunzig', '99', 'Nein, achtundneunzig', '98'],
  ],
  fr: [
    ['date', 'le trois | mars', '2027-03-03'],
    ['date', 'vingt-quatre | décembre', '2026-12-24', 'Non, le vingt-six', '2026-12-26'],
    ['date', 'premier mai | deux mille vingt-sept', '2027-05-01'],
    ['date', 'quatre juillet | mille neuf cent quatre-vingt-cinq', '1985-07-04', 'Non, en juin', '1985-06-04'],
    ['date', 'dans deux semaines', '2026-12-12'],
    ['date', 'mardi', '2026-12-01', 'Non, le trois décembre', '2026-12-03'],
    ['date', 'quinze | janvier', '2027-01-15'],
    ['date', 'demain', '2026-11-29', 'Non, lundi', '2026-11-30'],
    ['name', 'Anna | Dupont', 'Anna Dupont'],
    ['name', 'Meyer | M E Y | E R', 'Meyer', 'Non, avec un i', 'Meier'],
    ['name', 'mon nom est | Pierre Martin', 'Pierre Martin'],
    ['name', 'D U P O N | double T', 'Dupontt', 'Non, D U P O N D', 'Dupond'],
    ['name', 'Petit | P E T I T', 'Petit'],
    ['name', 'Jan Leroy', 'Jan Leroy', 'Non, J E A N', 'Jean Leroy'],
    ['name', 'Kim | K comme Kléber I M', 'Kim'],
    ['name', 'Eva Blanc', 'Eva Blanc', 'Non, Eve Blanc', 'Eve Blanc'],
    ['number', 'vingt-quatre', '24'],
    ['number', 'mille | deux cent cinquante', '1250', 'Non, mille trois cents', '1300'],
    ['number', 'douze virgule | cinq', '12.5'],
    ['number', 'quatre-vingts euros', '80', 'Non, quatre-vingt-cinq', '85'],
    ['number', 'trois cent douze', '312'],
    ['number', 'deux et demi', '2.5', 'Non, trois', '3'],
    ['address', 'vingt-quatre rue de la Paix | Paris', '24 rue de la Paix, Paris'],
    [
      'address',
      '7 rue du Moulin | six neuf zéro zéro un | Lyon',
      '7 rue du Moulin, 69001, Lyon',
      'Non, numéro neuf',
      '9 rue du Moulin, 69001, Lyon',
    ],
    ['address', 'j’habite au 12 avenue du Parc | Nice', '12 avenue du Parc, Nice'],
    [
      'address',
      'cinquante et un rue Haute | Lille',
      '51 rue Haute, Lille',
      'Non, numéro cinquante-deux',
      '52 rue Haute, Lille',
    ],
    ['address', '8 place Royale | Nantes', '8 place Royale, Nantes'],
    ['address', '3 rue Basse | Metz', '3 rue Basse, Metz', 'Non, numéro trente', '30 rue Basse, Metz'],
    ['date', 'deux | août', '2027-08-02'],
    ['number', 'quatre-vingt-dix-neuf', '99', 'Non, quatre-vingt-dix-huit', '98'],
  ],
  es: [
    ['date', 'el tres | de marzo', '2027-03-03'],
    ['date', 'veinticuatro | de diciembre', '2026-12-24', 'No, el veintiséis', '2026-12-26'],
    ['date', 'primero de mayo | de dos mil veintisiete', '2027-05-01'],
    ['date', 'cuatro de julio | de mil novecientos ochenta y cinco', '1985-07-04', 'No, en junio', '1985-06-04'],
    ['date', 'dentro de dos semanas', '2026-12-12'],
    ['date', 'el martes', '2026-12-01', 'No, el tres de diciembre', '2026-12-03'],
    ['date', 'quince | de enero', '2027-01-15'],
    ['date', 'mañana', '2026-11-29', 'No, el lunes', '2026-11-30'],
    ['name', 'Ana | García', 'Ana García'],
    ['name', 'Jiménez | J I M E | N E Z', 'Jimenez', 'No, con g', 'Gimenez'],
    ['name', 'mi nombre es | Pedro López', 'Pedro López'],
    ['name', 'R U | doble I Z', 'Ruiiz', 'No, R U I Z', 'Ruiz'],
    ['name', 'Gil | G I L', 'Gil'],
    ['name', 'Jon Díaz', 'Jon Díaz', 'No, J U A N', 'Juan Díaz'],
    ['name', 'Kim | K de kilo I M', 'Kim'],
    ['name', 'Eva Rubio', 'Eva Rubio', 'No, Eva Rubia', 'Eva Rubia'],
    ['number', 'veinticuatro', '24'],
    ['number', 'mil | doscientos cincuenta', '1250', 'No, mil trescientos', '1300'],
    ['number', 'doce coma | cinco', '12.5'],
    ['number', 'ochenta euros', '80', 'No, ochenta y cinco', '85'],
    ['number', 'trescientos doce', '312'],
    ['number', 'dos y medio', '2.5', 'No, tres', '3'],
    ['address', 'calle Mayor veinticuatro | Madrid', 'calle Mayor 24, Madrid'],
    [
      'address',
      'calle del Molino 7 | cuatro uno cero cero uno | Sevilla',
      'calle del Molino 7, 41001, Sevilla',
      'No, número nueve',
      'calle del Molino 9, 41001, Sevilla',
    ],
    ['address', 'vivo en avenida del Parque 12 | Málaga', 'avenida del Parque 12, Málaga'],
    [
      'address',
      'calle Alta cincuenta y uno | León',
      'calle Alta 51, León',
      'No, número cincuenta y dos',
      'calle Alta 52, León',
    ],
    ['address', 'plaza Real 8 | Gijón', 'plaza Real 8, Gijón'],
    ['address', 'calle Baja 3 | Soria', 'calle Baja 3, Soria', 'No, número treinta', 'calle Baja 30, Soria'],
    ['date', 'dos | de agosto', '2027-08-02'],
    ['number', 'noventa y nueve', '99', 'No, noventa y ocho', '98'],
  ],
  it: [
    ['date', 'il tre | marzo', '2027-03-03'],
    ['date', 'ventiquattro | dicembre', '2026-12-24', 'No, il ventisei', '2026-12-26'],
    ['date', 'primo maggio | duemilaventisette', '2027-05-01'],
    ['date', 'quattro luglio | millenovecentottantacinque', '1985-07-04', 'No, a giugno', '1985-06-04'],
    ['date', 'tra due settimane', '2026-12-12'],
    ['date', 'martedì', '2026-12-01', 'No, il tre dicembre', '2026-12-03'],
    ['date', 'quindici | gennaio', '2027-01-15'],
    ['date', 'domani', '2026-11-29', 'No, lunedì', '2026-11-30'],
    ['name', 'Anna | Rossi', 'Anna Rossi'],
    ['name', 'Meyer | M E Y | E R', 'Meyer', 'No, con i', 'Meier'],
    ['name', 'mi chiamo | Paolo Bianchi', 'Paolo Bianchi'],
    ['name', 'R O | doppia S I', 'Rossi', 'No, R O S I', 'Rosi'],
    ['name', 'Riva | R I V A', 'Riva'],
    ['name', 'Gian Neri', 'Gian Neri', 'No, G I O V A N N I', 'Giovanni Neri'],
    ['name', 'Kim | K come kilo I M', 'Kim'],
    ['name', 'Eva Bruni', 'Eva Bruni', 'No, Eva Bruno', 'Eva Bruno'],
    ['number', 'ventiquattro', '24'],
    ['number', 'mille | duecentocinquanta', '1250', 'No, milletrecento', '1300'],
    ['number', 'dodici virgola | cinque', '12.5'],
    ['number', 'ottanta euro', '80', 'No, ottantacinque', '85'],
    ['number', 'trecentododici', '312'],
    ['number', 'due e mezzo', '2.5', 'No, tre', '3'],
    ['address', 'via Garibaldi ventiquattro | Roma', 'via Garibaldi 24, Roma'],
    [
      'address',
      'via del Mulino 7 | cinque zero uno due due | Firenze',
      'via del Mulino 7, 50122, Firenze',
      'No, numero nove',
      'via del Mulino 9, 50122, Firenze',
    ],
    ['address', 'abito in viale del Parco 12 | Torino', 'viale del Parco 12, Torino'],
    ['address', 'via Alta cinquantuno | Lecce', 'via Alta 51, Lecce', 'No, numero cinquantadue', 'via Alta 52, Lecce'],
    ['address', 'piazza Reale 8 | Parma', 'piazza Reale 8, Parma'],
    ['address', 'via Bassa 3 | Pisa', 'via Bassa 3, Pisa', 'No, numero trenta', 'via Bassa 30, Pisa'],
    ['date', 'due | agosto', '2027-08-02'],
    ['number', 'novantanove', '99', 'No, novantotto', '98'],
  ],
  pt: [
    ['date', 'três | de março', '2027-03-03'],
    ['date', 'vinte e quatro | de dezembro', '2026-12-24', 'Não, dia vinte e seis', '2026-12-26'],
    ['date', 'primeiro de maio | de dois mil e vinte e sete', '2027-05-01'],
    ['date', 'quatro de julho | de mil novecentos e oitenta e cinco', '1985-07-04', 'Não, em junho', '1985-06-04'],
    ['date', 'daqui a duas semanas', '2026-12-12'],
    ['date', 'terça-feira', '2026-12-01', 'Não, três de dezembro', '2026-12-03'],
    ['date', 'quinze | de janeiro', '2027-01-15'],
    ['date', 'amanhã', '2026-11-29', 'Não, segunda-feira', '2026-11-30'],
    ['name', 'Ana | Silva', 'Ana Silva'],
    ['name', 'Souza | S O U | Z A', 'Souza', 'Não, com s', 'Sousa'],
    ['name', 'meu nome é | Pedro Santos', 'Pedro Santos'],
    ['name', 'R E I | dois S', 'Reiss', 'Não, R E I S', 'Reis'],
    ['name', 'Lima | L I M A', 'Lima'],
    ['name', 'Jon Costa', 'Jon Costa', 'Não, J O A O', 'Joao Costa'],
    ['name', 'Kim | K de kilo I M', 'Kim'],
    ['name', 'Eva Prado', 'Eva Prado', 'Não, Eva Prada', 'Eva Prada'],
    ['number', 'vinte e quatro', '24'],
    ['number', 'mil | duzentos e cinquenta', '1250', 'Não, mil e trezentos', '1300'],
    ['number', 'doze vírgula | cinco', '12.5'],
    ['number', 'oitenta euros', '80', 'Não, oitenta e cinco', '85'],
    ['number', 'trezentos e doze', '312'],
    ['number', 'dois e meio', '2.5', 'Não, três', '3'],
    ['address', 'rua das Flores vinte e quatro | São Paulo', 'rua das Flores 24, São Paulo'],
    [
      'address',
      'rua do Moinho 7 | quatro zero zero cinco zero | Salvador',
      'rua do Moinho 7, 40050, Salvador',
      'Não, número nove',
      'rua do Moinho 9, 40050, Salvador',
    ],
    ['address', 'moro na avenida do Parque 12 | Recife', 'avenida do Parque 12, Recife'],
    [
      'address',
      'rua Alta cinquenta e um | Natal',
      'rua Alta 51, Natal',
      'Não, número cinquenta e dois',
      'rua Alta 52, Natal',
    ],
    ['address', 'praça Real 8 | Belém', 'praça Real 8, Belém'],
    ['address', 'rua Baixa 3 | Santos', 'rua Baixa 3, Santos', 'Não, número trinta', 'rua Baixa 30, Santos'],
    ['date', 'dois | de agosto', '2027-08-02'],
    ['number', 'noventa e nove', '99', 'Não, noventa e oito', '98'],
  ],
}

/** Three hundred items, fifty in each language, half of them with a correction. */
export function spokenItems(): SpokenItem[] {
  return Object.keys(OTHERS).flatMap((code) =>
    [...phones(code), ...emails(code), ...OTHERS[code]!].map(([type, said, first, correction, value = first]) => ({
      code,
      type,
      groups: said.split(' | '),
      first,
      ...(correction === undefined ? {} : { correction }),
      value,
      yes: YES[code]!,
    })),
  )
}
