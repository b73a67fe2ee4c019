import t from 'tap'
import { LANGUAGES } from '../../../../../runtime/conversation/languages/index.ts'
import { ReadAloud, readAloud } from '../../../../../runtime/conversation/speaking/read-aloud.ts'

/** What is written, and what the voice is given. */
const READ: readonly (readonly [tag: string, written: string, read: string])[] = [
  ['en', 'It costs $1,250.50 a month.', 'It costs 1250 dollars 50 a month.'],
  [
    'en',
    'One is $1, two are $2, that is £3 or €4.50.',
    'One is 1 dollar, two are 2 dollars, that is 3 pounds or 4 euros 50.',
  ],
  ['en', 'A $5 million house, $5k a year, $5–10 each.', 'A $5 million house, $5k a year, $5–10 each.'],
  ['en', 'We have 12,500 rooms.', 'We have 12500 rooms.'],
  ['en', 'Call +1 212-555-0123 today.', 'Call 2 1 2, 5 5 5, 0 1 2 3 today.'],
  ['en', 'Or +49 30 901820.', 'Or plus 4 9, 3 0, 9 0 1 8 2 0.'],
  ['en-US', 'Call (212) 555-0123.', 'Call 2 1 2, 5 5 5, 0 1 2 3.'],
  ['en', 'Your order 123456789 is here.', 'Your order 1 2 3, 4 5 6, 7 8 9 is here.'],
  ['en', 'Write to ada.l@example.com, please.', 'Write to ada dot l at example dot com, please.'],
  ['en', 'See https://www.example.com/menu.', 'See example dot com slash menu.'],
  ['en', 'See example.com/a_b?x=1&y=2 now', 'See example dot com now'],
  ['en-US', 'On 03/04/2027 or 2027-03-14.', 'On March 4, 2027 or March 14, 2027.'],
  ['en-GB', 'On 03/04/2027.', 'On 3 April 2027.'],
  [
    'en',
    'Dr. Smith comes at approx. 3.5 hours, e.g. at 14:30.',
    'Doctor Smith comes at approximately 3.5 hours, for example at 14:30.',
  ],
  [
    'en',
    'Version 1.2.3 of 3/4, 99.9%, room 12B and flight LH400.',
    'Version 1.2.3 of 3/4, 99.9%, room 12B and flight LH400.',
  ],
  ['en', 'Not a date: 2026-13-45.', 'Not a date: 2026-13-45.'],
  [
    'de',
    'Das kostet 1.250,50 € im Jahr, z. B. ab 1.3.2027 um 14:30 Uhr.',
    'Das kostet 1250 Euro 50 im Jahr, zum Beispiel ab 1. März 2027 um 14 Uhr 30.',
  ],
  ['de', 'Am 3. Mai um 9:00.', 'Am 3. Mai um 9 Uhr.'],
  ['de', 'Rufen Sie 030 901820 an.', 'Rufen Sie 0 3 0, 9 0 1 8 2 0 an.'],
  ['de', 'Es waren 12.500 Leute, Nr. 7, 3,5 Prozent.', 'Es waren 12500 Leute, Nummer 7, 3,5 Prozent.'],
  ['de', 'ada@example.de', 'ada at example Punkt de'],
  ['fr', 'Rendez-vous à 14:30, soit 12,50 €.', 'Rendez-vous à 14 heures 30, soit 12 euros 50.'],
  ['fr', 'Appelez le 01 42 68 53 00.', 'Appelez le 0 1, 4 2, 6 8, 5 3, 0 0.'],
  ['es', 'Son 12,50 €, Sra. Gil: ana@ejemplo.es.', 'Son 12 euros con 50, señora Gil: ana arroba ejemplo punto es.'],
  ['it', 'Sono 12,50 €, Sig. Rossi.', 'Sono 12 euro e 50, signor Rossi.'],
  ['pt-BR', 'São R$ 12,50, Dra. Lima.', 'São 12 Reais brasileiros e 50, doutora Lima.'],
  ['nl', 'Dat kost € 12,50, bijv. om 14:30 uur.', 'Dat kost 12 euro 50, bijvoorbeeld om 14 uur 30.'],
  ['pl', 'To 5 $, np. dziś.', 'To 5 dolarów, na przykład dziś.'],
  ['sv', 'Kl. 14:30, t.ex. på example.se', 'Kl. 14:30, till exempel på example punkt se'],
  ['ja', '14:30に来てください。', '14時30分に来てください。'],
  ['ko', '가격은 $12.50, ada@example.com', '가격은 $12.50, ada@example.com'],
]

for (const [tag, written, read] of READ) {
  t.test(`${tag}: ${JSON.stringify(written)} is read as people read it, whatever pieces it comes in`, async (t) => {
    t.equal(readAloud(written, tag), read)
    for (const size of [1, 3, 11]) {
      const reading = new ReadAloud(tag)
      let said = ''
      for (let at = 0; at < written.length; at += size) said += reading.push(written.slice(at, at + size))
      t.equal(`${said}${reading.flush()}`, read, `${size} characters at a time`)
    }
  })
}

t.test('every language reads amounts and addresses in its own words', async (t) => {
  for (const { code, reading } of LANGUAGES) {
    t.notMatch(readAloud('12,50 €', code), /€/, code)
    t.notMatch(readAloud('ada@example.com', code), /[@.]/, code)
    for (const [written, said] of Object.entries(reading.inFull)) t.notMatch(said, /\.$/, `${code} ${written}`)
  }
})

t.test('a sentence that is known to be over is not waited for', async (t) => {
  const reading = new ReadAloud('en')
  t.equal(reading.push('Room 12 at $5.\u2029'), 'Room 12 at 5 dollars.\u2029')
  t.equal(reading.push('We are open from nine. '), 'We are open from nine. ')
  t.equal(reading.push('On 5 '), 'On ')
})
