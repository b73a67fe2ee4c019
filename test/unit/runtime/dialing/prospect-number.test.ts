import t from 'tap'
import { readProspectNumber } from '../../../../runtime/dialing/prospect-number.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { parsePhoneNumber } from '../../../../runtime/lib/phone-number.ts'

t.test('every area code whose zone is known is a number for prospects and for single calls', async (t) => {
  const { areaCodes } = shippedPlaces()
  const numbers = [...areaCodes.keys()].map((code) => `+1${code}5550123`)
  t.same(
    numbers.filter((number) => readProspectNumber(number, 'US') !== number),
    [],
  )
  t.same(
    numbers.filter((number) => parsePhoneNumber(number) !== number),
    [],
  )
})

t.test('a number is read whatever invisible characters and digits of another form came along with it', async (t) => {
  const written = [
    '\u202a+12125550123\u202c',
    '\u2066+1 212 555 0123\u2069',
    '+1\u200b212\u00ad555\u200e0123',
    '\uff0b\uff11\uff12\uff11\uff12\uff15\uff15\uff15\uff10\uff11\uff12\uff13',
  ]
  for (const text of written) {
    t.equal(parsePhoneNumber(text), '+12125550123', JSON.stringify(text))
    t.equal(readProspectNumber(text, 'US'), '+12125550123', JSON.stringify(text))
  }
})

t.test('a cell holds a number as spreadsheets and exports write it', async (t) => {
  for (const cell of ['="+12125550123"', 'tel:+12125550123', 'p:+12125550123', '="2125550123"', '2125550123.0']) {
    t.equal(readProspectNumber(cell, 'US'), '+12125550123', cell)
  }
  t.equal(readProspectNumber('1.21255E+10', 'US'), undefined, 'a rounded number is none')
})
