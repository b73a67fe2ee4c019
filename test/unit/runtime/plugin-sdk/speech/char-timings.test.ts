import t from 'tap'
import { CharTimings } from '../../../../../runtime/plugin-sdk/speech/char-timings.ts'

const chars = (text: string, fromS: number) =>
  [...text].map((char, i) => ({ char, startS: fromS + i, endS: fromS + i + 1 }))

t.test('words are put together over pieces that cut them', async (t) => {
  const timings = new CharTimings()
  t.same(timings.push(chars('We a', 0)), [{ text: 'We', startS: 0, endS: 2 }])
  t.same(timings.push(chars('re  o', 4)), [{ text: 'are', startS: 3, endS: 6 }])
  t.same(timings.flush(), [{ text: 'o', startS: 8, endS: 9 }])
  t.same(timings.flush(), [])
})

t.test('characters of languages without blanks are each told when they are said', async (t) => {
  const timings = new CharTimings()
  t.same(
    timings.push(chars('はい。ok', 0)).map(({ text }) => text),
    ['は', 'い。'],
  )
  t.same(
    timings.flush().map(({ text }) => text),
    ['ok'],
  )
})
