import { AudioFrame } from '@livekit/rtc-node'
import { test } from 'tap'
import { endOfPart, ReadAhead } from '../../../../../runtime/conversation/speaking/read-ahead.ts'

const SENTENCE = 'We are open from nine to five on all days but Sunday. '

test('a part ends behind the first sentence that makes it long enough, once more is known to follow', (t) => {
  t.equal(endOfPart(SENTENCE.repeat(10), 0, 'en'), 3 * SENTENCE.length)
  t.equal(endOfPart(SENTENCE.repeat(3), 0, 'en'), undefined, 'the last one may go on')
  t.equal(endOfPart(`${SENTENCE.repeat(3)}Dr. Smith`, 0, 'en'), 3 * SENTENCE.length)
  t.equal(endOfPart(`${SENTENCE.repeat(2)}Ask for Dr. Smith there. Then`, 0, 'en'), 2 * SENTENCE.length + 25)
  t.end()
})

test('a part never ends before what was given already', (t) => {
  const text = SENTENCE.repeat(10)
  t.equal(endOfPart(text, 3 * SENTENCE.length + 1, 'en'), 4 * SENTENCE.length)
  t.equal(endOfPart('a'.repeat(700), 600, 'en'), 600)
  t.end()
})

test('a text without a sentence end is cut between words', (t) => {
  const end = endOfPart('word '.repeat(300), 0, 'en')!
  t.ok(end > 500 && end <= 600)
  t.equal(end % 5, 0)
  t.end()
})

test('letters that are syllables make shorter parts', (t) => {
  const sentence = '私たちは日曜日を除く毎日九時から五時まで営業しています。'
  t.equal(endOfPart(sentence.repeat(10), 0, 'ja'), 3 * sentence.length)
  t.end()
})

test('who waits until little is left goes on when enough was played, or dropped, or the wait is over', async (t) => {
  const ahead = new ReadAhead()
  const frame = new AudioFrame(new Int16Array(8_000), 8_000, 1, 8_000)
  ahead.made(frame)
  t.equal(ReadAhead.of(frame), ahead)
  const { signal } = new AbortController()
  await ahead.low(1_001, signal)
  let isLow = false
  const low = ahead.low(500, signal).then(() => {
    isLow = true
  })
  ahead.played(500)
  await Promise.resolve()
  t.equal(isLow, false)
  ahead.played(20)
  await low
  const over = new AbortController()
  const waiting = ahead.low(100, over.signal)
  over.abort()
  await waiting
})
