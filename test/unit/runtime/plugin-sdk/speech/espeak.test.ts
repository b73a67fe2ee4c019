import { spawn } from 'node:child_process'
import t from 'tap'
import { ESPEAK_SAMPLE_RATE_HZ, espeakEach, type Spawn } from '../../../../../runtime/plugin-sdk/speech/espeak.ts'

/** A phase of a voice's period more or less. */
const SAME_MS = 10
const options = { voice: 'en-us', trimEnd: true }
const { signal } = new AbortController()

/** Starts programs, and counts them. */
function counting(): { spawn: Spawn; starts: () => number } {
  let starts = 0
  const counted = (...args: Parameters<Spawn>) => {
    starts++
    return spawn(args[0], args[1] ?? [], args[2] ?? {})
  }
  return { spawn: counted as Spawn, starts: () => starts }
}

const ms = (samples: Int16Array): number => (samples.length * 1_000) / ESPEAK_SAMPLE_RATE_HZ

t.test('texts of one run sound as each does alone, in their order', async (t) => {
  const texts = ['Yes.', 'Is it open on Sunday, or <i>later</i>?', 'Fish & chips, please', 'Wait. No. Goodbye!', 'four']
  const together = counting()
  const each = await espeakEach(together.spawn, texts, options, signal)
  t.equal(together.starts(), 1)
  for (const [i, text] of texts.entries()) {
    const [alone] = await espeakEach(counting().spawn, [text], options, signal)
    t.ok(ms(alone!) > 100, text)
    t.ok(Math.abs(ms(alone!) - ms(each[i]!)) < SAME_MS, `${text}: ${ms(each[i]!)} instead of ${ms(alone!)} ms`)
    t.ok(each[i]!.at(0) !== 0 && each[i]!.at(-1) !== 0, 'no silence around it')
  }
})

t.test('a text without sound has none, and the others are their own', async (t) => {
  for (const silent of ['', '…']) {
    const [yes, nothing, goodbye] = await espeakEach(counting().spawn, ['Yes.', silent, 'Goodbye!'], options, signal)
    t.equal(nothing?.length, 0)
    t.ok(ms(yes!) < ms(goodbye!))
  }
})

t.test('a voice that there is not is refused', async (t) => {
  await t.rejects(
    espeakEach(counting().spawn, ['Yes.', 'No.'], { voice: 'xx' }, signal),
    /could not speak with voice "xx"/,
  )
})
