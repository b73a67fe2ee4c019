import { test } from 'tap'
import { readingContext } from '../../../../../runtime/conversation/collecting/reading-context.ts'

test('a number without a country code is of the caller’s country, else of the region of the language, else of the language', (t) => {
  const countryOf = (tag: string, callerNumber?: string): string =>
    readingContext(callerNumber === undefined ? {} : { callerNumber }, tag, 0).country
  t.equal(countryOf('de'), 'DE')
  t.equal(countryOf('de-at'), 'AT')
  t.equal(countryOf('zh-Hant-TW'), 'TW')
  t.equal(countryOf('es-419'), 'ES', 'Latin America is no country')
  t.equal(countryOf('de-AT', '+33142764040'), 'FR')
  t.equal(countryOf('de-AT', 'anonymous'), 'AT')
  t.end()
})
