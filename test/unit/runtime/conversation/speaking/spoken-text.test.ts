import { test } from 'tap'
import { SpokenText } from '../../../../../runtime/conversation/speaking/spoken-text.ts'

test('words with timings are heard once they began, whatever their letters', (t) => {
  const spoken = new SpokenText()
  spoken.add('It is $1,250.00 a month.')
  for (const [word, startMs] of [
    ['It', 0],
    ['is', 200],
    ['$1,250.00', 400],
    ['a', 3_400],
    ['month.', 3_500],
  ] as const) {
    spoken.time(word, startMs)
  }
  spoken.complete = true
  t.equal(spoken.heardBy(0, undefined), '')
  t.equal(spoken.heardBy(199, undefined), 'It')
  t.equal(spoken.heardBy(3_300, undefined), 'It is $1,250.00')
  t.equal(spoken.heardBy(3_450, undefined), 'It is $1,250.00 a')
  t.equal(spoken.heardBy(5000, 4000), 'It is $1,250.00 a month.')
  t.end()
})

test('a word that is spelled otherwise is passed over; where timings end, letters go on', (t) => {
  const spoken = new SpokenText()
  spoken.add('Dr. Smith is in today, and another voice goes on from here')
  for (const [word, startMs] of [
    ['Doctor', 0],
    ['Smith', 400],
    ['is', 700],
  ] as const) {
    spoken.time(word, startMs)
  }
  t.equal(spoken.heardBy(500, undefined), 'Dr. Smith')
  t.equal(spoken.heardBy(1_500, undefined), 'Dr. Smith is')
  t.equal(spoken.heardBy(3_200, undefined), 'Dr. Smith is in today, and another voice goes on')
  t.end()
})

test('a voice that tells only when its sentences begin is taken at its word for them alone', (t) => {
  const spoken = new SpokenText()
  spoken.add('We are open. On Saturdays we open an hour later than that.')
  spoken.time('We are open.', 0)
  spoken.time('On Saturdays we open an hour later than that.', 2_500)
  t.equal(spoken.heardBy(2_400, undefined), 'We are open.')
  t.equal(spoken.heardBy(3_300, undefined), 'We are open. On Saturdays')
  t.end()
})

test('words without timings lie along the audio by their letters, and only whole ones are heard', (t) => {
  const spoken = new SpokenText()
  spoken.add('one two three four')
  spoken.complete = true
  t.equal(spoken.heardBy(0, 1800), '')
  t.equal(spoken.heardBy(300, 1800), 'one')
  t.equal(spoken.heardBy(700, 1800), 'one two')
  t.equal(spoken.heardBy(1800, 1800), 'one two three four')
  t.end()
})

test('while speech is still being made, letters pass at the pace of speech', (t) => {
  const spoken = new SpokenText()
  spoken.add('This is quite a long sentence that goes on and on')
  t.equal(spoken.heardBy(1000, undefined), 'This is quite a')
  t.equal(spoken.heardBy(1e6, undefined), spoken.text)
  t.end()
})
