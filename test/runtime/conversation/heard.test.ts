import { test } from 'tap'
import { SpokenText } from '../../../runtime/conversation/heard.ts'

test('words with timings are heard once they began', (t) => {
  const spoken = new SpokenText()
  spoken.add('We ', 0)
  spoken.add('are ', 200)
  spoken.add('open.', 500)
  spoken.complete = true
  t.equal(spoken.heardBy(0, undefined), '')
  t.equal(spoken.heardBy(199, undefined), 'We')
  t.equal(spoken.heardBy(201, undefined), 'We are')
  t.equal(spoken.heardBy(2000, 1000), 'We are open.')
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
