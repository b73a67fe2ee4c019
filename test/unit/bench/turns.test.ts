import t from 'tap'
import { silencesOf } from '../../../bench/turns/build.ts'
import { cutOffsAt, delayAt, type ScoredPause, sweep, sweepSilence } from '../../../bench/turns/policy.ts'
import { pausesOf, samplesOfWav, type Turn, wavOf, wordsBy } from '../../../bench/turns/rows.ts'

const TURN: Turn = {
  id: 'a',
  language: 'en',
  audio: { path: 'a.wav' },
  silence_spans: [
    { start: 1, end: 1.15 },
    { start: 2, end: 2.5 },
    { start: 4, end: 9.5 },
    { start: 10, end: 14 },
  ],
  words: [
    { word: 'A', start: 0, end: 0.5 },
    { word: 'table', start: 0.5, end: 2 },
    { word: 'for', start: 2.5, end: 4 },
  ],
}

t.test('silences of a turn count as eot-bench counts them: held ones from 0.2 to 5 s, and the last', async (t) => {
  t.same(
    pausesOf(TURN).map(({ startS, lengthS, isEnd }) => [startS, lengthS, isEnd]),
    [
      [2, 0.5, false],
      [10, 4, true],
    ],
  )
})

t.test('words are known no sooner than they come', async (t) => {
  t.equal(wordsBy(TURN, 2.3, 0.3), 'A table')
  t.equal(wordsBy(TURN, 2.2, 0.3), 'A')
  t.equal(wordsBy(TURN, 0, 0.3), '')
  t.equal(wordsBy({ ...TURN, words: null }, 9, 0.3), '', 'a set may have none')
})

t.test('a policy cuts off what outlasts it, and waits at the ends as long as it must', async (t) => {
  const held = (lengthS: number, probability: number): ScoredPause => ({
    lengthS,
    isEnd: false,
    scores: [[0.1, probability]],
  })
  const end = (probability: number): ScoredPause => ({ lengthS: 4, isEnd: true, scores: [[0.1, probability]] })
  const pauses = [held(0.25, 0.2), held(0.8, 0.3), held(1.2, 0.2), end(0.9), end(0.1)]
  const points = sweep(pauses)
  const at = (threshold: number, actionDelayS: number, timeoutS: number) =>
    points.find((one) => one.threshold === threshold && one.actionDelayS === actionDelayS && one.timeoutS === timeoutS)!
  t.same(at(0.5, 0.2, 1).cutOffs, 1 / 3, 'one pause outlasts the timeout')
  t.equal(at(0.5, 0.2, 1).meanDelayS, 0.6, 'the sure end after 0.2 s, the other after 1 s')
  t.same(at(0.25, 0.2, 1).cutOffs, 2 / 3)
  t.equal(delayAt(points, 0), 0.85, '0.2 s where it is sure, 1.5 s where not')
  t.equal(cutOffsAt(points, 0.6), 1 / 3)
  t.equal(cutOffsAt(points, 0.1), undefined, 'no policy is that quick')
  t.equal(delayAt(sweepSilence(pauses), 0), 1.5, 'silence alone')
})

t.test('silences of a sound are found to 10 ms, but for what comes before it', async (t) => {
  const tone = (ms: number) => Array.from({ length: ms * 16 }, (_, i) => Math.round(8_000 * Math.sin(i / 5)))
  const quiet = (ms: number) => new Array<number>(ms * 16).fill(0)
  const samples = Int16Array.from([
    ...quiet(300),
    ...tone(400),
    ...quiet(90),
    ...tone(110),
    ...quiet(250),
    ...tone(250),
  ])
  t.same(silencesOf(samples), [{ start: 0.9, end: 1.15 }])
  t.same(samplesOfWav(wavOf(samples, 16_000), 16_000), samples, 'and a file of it holds the same')
  t.throws(() => samplesOfWav(Buffer.from('ID3 and so on'), 16_000), /no WAV file/)
})
