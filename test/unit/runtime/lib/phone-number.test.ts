import fc from 'fast-check'
import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/min'
import t from 'tap'
import { numberFault, parsePhoneNumber } from '../../../../runtime/lib/phone-number.ts'

t.test('reads international numbers as people write them', async (t) => {
  for (const text of [
    '+14155552671',
    '+1 (415) 555-2671',
    ' +1.415.555.2671 ',
    '001 415 555 2671',
    '+1 415 555–2671',
  ]) {
    t.equal(parsePhoneNumber(text), '+14155552671', text)
  }
  t.equal(parsePhoneNumber('+44 (0)20 7946 0018'), '+442079460018', 'a national prefix is dropped')
  t.equal(parsePhoneNumber('+15551234567'), '+15551234567', 'a number nobody has is still one by its form')
})

t.test('refuses what is no international number', async (t) => {
  const wrong = ['', '+', '4155552671', '14155552671', '+1', '+1415555267', '+141555526711', '+999123456789', 'call me']
  for (const text of [
    ...wrong,
    '+1415555ABCD',
    '+14155552671 ext 5',
    'tel:+14155552671',
    `+1${' '.repeat(60)}4155552671`,
  ]) {
    t.equal(parsePhoneNumber(text), undefined, JSON.stringify(text))
  }
})

t.test('the quick way agrees with libphonenumber for every country', async () => {
  const codes = [...new Set(getCountries().map((country) => getCountryCallingCode(country)))]
  const digits = fc.string({ minLength: 5, maxLength: 12, unit: fc.constantFrom(...'0123456789') })
  fc.assert(
    fc.property(fc.constantFrom(...codes), digits, (code, rest) => {
      const text = `+${code}${rest}`
      const known = text.length >= 8 && text.length <= 16 ? parsePhoneNumberFromString(text) : undefined
      const expected = known?.isPossible() ? known.number : undefined
      return parsePhoneNumber(text) === expected
    }),
    { numRuns: 2000 },
  )
})

t.test('a cell that is no number says why, and the cure', async (t) => {
  for (const [cell, why] of [
    ['', /empty/],
    ['4.41E+11', /spreadsheet has shortened.*as text/],
    ['4,41207E+11', /spreadsheet/],
    ['2125550142', /no country code: write it as \+/],
    ['14155550177', /no country code/],
    ['+1415', /too short/],
    ['call me', /letters/],
    ['+141555501771234', /this length/],
  ] as const) {
    t.match(numberFault(cell), why, cell)
    t.equal(parsePhoneNumber(cell), undefined, cell)
  }
})
