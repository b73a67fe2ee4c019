import { test } from 'tap'
import { SCRIPTED_RATE_HZ, ScriptedWords } from '../../../../bench/voice/scripted-words.ts'

const TEXT = 'How much is a large pizza?'
const DURATION_MS = 1_000
const samplesOf = (ms: number) => (ms * SCRIPTED_RATE_HZ) / 1000
const silence = (ms: number) => new Int16Array(samplesOf(ms))
const voice = (ms: number) => new Int16Array(samplesOf(ms)).fill(3_000)

/** What is said of a sound that comes in packets of these lengths, round and round. */
function heard(sound: Int16Array, packetsMs: readonly number[]): string[] {
  const words = new ScriptedWords([{ text: TEXT, durationMs: DURATION_MS }])
  const said: string[] = []
  for (let at = 0, i = 0; at < sound.length; i++) {
    const length = samplesOf(packetsMs[i % packetsMs.length]!)
    said.push(...words.push(sound.subarray(at, at + length)).map(({ text, final }) => (final ? `${text} final` : text)))
    at += length
  }
  return said
}

function joined(...parts: Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]))
}

test('the words of a line are the same, however its sound is cut into packets', async (t) => {
  const sound = joined(silence(290), voice(DURATION_MS), silence(500))
  const expected = ['How', 'How much', 'How much is', 'How much is a', TEXT, `${TEXT} final`]
  for (const packets of [[20], [100], [20, 60, 100], [32], [100, 60, 60, 20]]) {
    t.strictSame(heard(sound, packets), expected, `packets of ${packets.join(', ')} ms`)
  }
})

test('a sound that is no line of the script has no last words', async (t) => {
  const sound = joined(voice(DURATION_MS / 2), silence(500))
  t.strictSame(heard(sound, [20]), ['How', 'How much'])
})
