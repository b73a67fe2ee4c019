import { test } from 'tap'
import type { CollectType } from '../../../../../runtime/call/types/collect-item.ts'
import { spokenFormsOf } from '../../../../../runtime/conversation/collecting/languages/index.ts'
import { readReply } from '../../../../../runtime/conversation/collecting/read-reply.ts'

const NOW_MS = Date.UTC(2026, 10, 28, 14)

/** The value after the reply; `yes`, `wrong` or `unclear` where it is no correction. */
function after(code: string, type: CollectType, value: string, said: string): string {
  const forms = spokenFormsOf(code)
  const context = { forms, country: forms.country, timeZone: 'Europe/Berlin', nowMs: NOW_MS, tag: code }
  const item = { name: 'value', type, spellBack: true, secret: false, attempts: 3 }
  const reply = readReply(item, value, said, context)
  return reply.type === 'corrected' ? reply.reading.value : reply.type === 'confirmed' ? 'yes' : reply.type
}

type Row = readonly [type: CollectType, value: string, said: string, after: string]

const TABLES: Readonly<Record<string, readonly Row[]>> = {
  en: [
    ['phone', '+14155550123', 'Yes, that is right.', 'yes'],
    ['phone', '+14155550123', 'No.', 'wrong'],
    ['phone', '+14155550123', 'hm', 'unclear'],
    ['phone', '+14155550123', 'No, the last digit is five.', '+14155550125'],
    ['phone', '+14155550123', 'No, the last two are four five', '+14155550145'],
    ['phone', '+14155550123', 'no, not two but seven', '+14155550173'],
    ['phone', '+14155550123', 'the first three are four one six', '+14165550123'],
    ['phone', '+14155550123', 'No, four one five five five six oh one two three', '+14155560123'],
    ['phone', '+14155550123', 'no, the second digit is zero', '+14055550123'],
    ['phone', '+14155550123', 'no, eight at the end', '+14155550128'],
    ['digits', '12345', 'no, one two three four six', '12346'],
    ['digits', '12345678', 'no, 679', '12346798'.replace('12346798', '12345679')],
    ['email', 'anna.meier@gmail.com', 'No, with a y', 'anna.meyer@gmail.com'],
    ['email', 'anna.schmit@gmail.com', 'no, with double t', 'anna.schmitt@gmail.com'],
    ['email', 'anna@gmail.com', 'no, at hotmail dot com', 'anna@hotmail.com'],
    ['email', 'anna.schmidt@gmail.com', 'no, s c h m i t t', 'anna.schmitt@gmail.com'],
    ['email', 'anna@gmail.com', 'no, anne at gmail dot com', 'anne@gmail.com'],
    ['name', 'Anna Meier', 'No, M E Y E R', 'Anna Meyer'],
    ['name', 'Anna Meier', 'No, Anna Mayer', 'Anna Mayer'],
    ['name', 'Anna Meier', 'Yes, that is my name', 'yes'],
    ['date', '2027-03-03', 'No, the fourth', '2027-03-04'],
    ['date', '2027-03-03', 'No, in May', '2027-05-03'],
    ['date', '2027-03-03', 'no, 2028', '2028-03-03'],
    ['time', '08:00', 'no, in the evening', '20:00'],
    ['time', '15:30', 'no, half past four', '16:30'],
    ['number', '24', 'no, twenty five', '25'],
    ['address', '24 Main Street, 90210 Springfield', 'no, number twenty six', '26 Main Street, 90210 Springfield'],
    [
      'address',
      '24 Main Street, 90210 Springfield',
      'no, the zip code is nine oh two one one',
      '24 Main Street, 90211 Springfield',
    ],
  ],
  de: [
    ['phone', '+4917612345678', 'Ja, genau.', 'yes'],
    ['phone', '+4917612345678', 'Nein, am Ende 7', '+4917612345677'],
    ['phone', '+4917612345678', 'Nein, die letzte Ziffer ist eine neun', '+4917612345679'],
    ['phone', '+4917612345678', 'Nicht sechs, sondern sieben', '+4917612345778'],
    ['phone', '+4917612345678', 'Nein, die letzten zwei sind neun neun', '+4917612345699'],
    ['email', 'mayer@web.de', 'Nein, mit i', 'maier@web.de'],
    ['email', 'max@web.de', 'Nein, at gmx punkt de', 'max@gmx.de'],
    ['name', 'Anna Meier', 'Nein, mit Ypsilon', 'Anna Meyer'],
    ['name', 'Schmit', 'Nein, mit zwei t', 'Schmitt'],
    ['date', '2027-03-03', 'Nein, am vierten', '2027-03-04'],
    ['date', '2027-03-03', 'Nein, im Mai', '2027-05-03'],
    ['time', '08:00', 'Nein, abends', '20:00'],
    ['address', 'Hauptstraße 24, 10115 Berlin', 'Nein, Hausnummer sechsundzwanzig', 'Hauptstraße 26, 10115 Berlin'],
    ['number', '24', 'Nein, fünfundzwanzig', '25'],
  ],
  fr: [
    ['phone', '+33612345678', "Oui, c'est ça.", 'yes'],
    ['phone', '+33612345678', 'Non, à la fin 79', '+33612345679'],
    ['phone', '+33612345678', 'Non, le dernier chiffre est un neuf', '+33612345679'],
    ['phone', '+33612345678', 'pas 56 mais 57', '+33612345778'],
    ['email', 'marie@orange.fr', 'Non, arobase free point fr', 'marie@free.fr'],
    ['name', 'Dupont', 'Non, D U P O N D', 'Dupond'],
    ['date', '2027-03-03', 'Non, le quatre', '2027-03-04'],
    ['date', '2027-03-03', 'Non, en mai', '2027-05-03'],
    ['address', '24 rue de la Paix, 75002 Paris', 'Non, numéro vingt-six', '26 rue de la Paix, 75002 Paris'],
  ],
  es: [
    ['phone', '+34612345678', 'Sí, correcto.', 'yes'],
    ['phone', '+34612345678', 'No, al final nueve', '+34612345679'],
    ['phone', '+34612345678', 'no es 6 sino 7', '+34612345778'],
    ['email', 'ana@gmail.com', 'No, arroba hotmail punto es', 'ana@hotmail.es'],
    ['name', 'Jiménez', 'No, con g', 'Giménez'],
    ['date', '2027-03-03', 'No, el cuatro', '2027-03-04'],
    ['time', '08:00', 'No, de la tarde', '20:00'],
    ['address', 'Calle Mayor 24, 28013 Madrid', 'No, número veintiséis', 'Calle Mayor 26, 28013 Madrid'],
  ],
  it: [
    ['phone', '+393471234567', 'Sì, esatto.', 'yes'],
    ['phone', '+393471234567', "No, l'ultima cifra è otto", '+393471234568'],
    ['phone', '+393471234567', 'non 6 ma 9', '+393471234597'],
    ['email', 'anna@libero.it', 'No, chiocciola gmail punto com', 'anna@gmail.com'],
    ['name', 'Rosi', 'No, con doppia s', 'Rossi'],
    ['date', '2027-03-03', 'No, il quattro', '2027-03-04'],
    ['time', '08:00', 'No, di sera', '20:00'],
    ['address', 'Via Garibaldi 24, 00187 Roma', 'No, numero ventisei', 'Via Garibaldi 26, 00187 Roma'],
  ],
  pt: [
    ['phone', '+5511987654321', 'Sim, isso mesmo.', 'yes'],
    ['phone', '+5511987654321', 'Não, no final é dois', '+5511987654322'],
    ['phone', '+5511987654321', 'não é 4 mas 5', '+5511987655321'],
    ['email', 'ana@gmail.com', 'Não, arroba uol ponto com ponto br', 'ana@uol.com.br'],
    ['name', 'Souza', 'Não, com s', 'Sousa'],
    ['date', '2027-03-03', 'Não, dia quatro', '2027-03-04'],
    ['time', '08:00', 'Não, da noite', '20:00'],
    ['address', 'Rua das Flores 24, 01310 São Paulo', 'Não, número vinte e seis', 'Rua das Flores 26, 01310 São Paulo'],
  ],
}

for (const [code, rows] of Object.entries(TABLES)) {
  test(`replies in ${code} to a value that was read back confirm it or correct a part of it`, (t) => {
    for (const [type, value, said, expected] of rows)
      t.equal(after(code, type, value, said), expected, `${value}: ${said}`)
    t.end()
  })
}

test('the number words of a language are worked out once, whatever is read', (t) => {
  const asked: number[] = []
  const english = spokenFormsOf('en')
  const cardinals = (n: number): readonly string[] => {
    asked.push(n)
    return english.cardinals(n)
  }
  const forms = { ...english, cardinals }
  const context = { forms, country: 'US', timeZone: 'Europe/Berlin', nowMs: NOW_MS, tag: 'en' }
  const item = { name: 'value', type: 'time', spellBack: true, secret: false, attempts: 3 } as const
  for (const said of ['no, half past four', 'no, in the evening', 'hello there my friend']) {
    readReply(item, '08:00', said, context)
  }
  t.equal(asked.length, 1_000)
  t.end()
})
