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

test('languages without blanks are heard word by word, with and without timings', (t) => {
  const said = 'はい、九時に伺います。ありがとうございます。'
  const untimed = new SpokenText()
  untimed.add(said)
  untimed.complete = true
  t.equal(untimed.heardBy(500, 2_200), 'はい、九時')
  t.equal(untimed.heardBy(1_150, 2_200), 'はい、九時に伺います。')
  t.equal(untimed.heardBy(2_200, 2_200), said)
  const timed = new SpokenText()
  timed.add(said)
  for (const [i, char] of [...said].entries()) timed.time(char, i * 100)
  t.equal(timed.heardBy(250, undefined), 'はい、')
  t.equal(timed.heardBy(450, undefined), 'はい、九時')
  const bySentence = new SpokenText()
  bySentence.add(said)
  bySentence.time('はい、九時に伺います。', 0)
  bySentence.time('ありがとうございます。', 1_500)
  t.equal(bySentence.heardBy(400, undefined), 'はい、九時に')
  for (const text of ['你好，我们九点开门。', 'สวัสดีครับ ยินดีต้อนรับ']) {
    const spoken = new SpokenText()
    spoken.add(text)
    spoken.complete = true
    t.ok(spoken.heardBy(600, 1_200).length > 0 && spoken.heardBy(600, 1_200).length < text.length, text)
  }
  t.end()
})
