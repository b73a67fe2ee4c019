import { test } from 'tap'
import { SpeechPackets } from '../../../../../runtime/conversation/hearing/speech-packets.ts'

const frame = () => new Int16Array(320)

/** Lengths of the packets, in frames, by the quiet at the end of each frame in ms. */
function packets(quietMs: readonly number[], now: { awaited?: boolean; contested?: boolean } = {}): number[] {
  const gathered = new SpeechPackets()
  return quietMs.map((ms) => {
    const packet = gathered.push(frame(), { quietMs: ms, awaited: false, contested: false, ...now })
    return packet === undefined ? 0 : packet.length / 320
  })
}

test('speech goes out in threes, its beginning and its end at once', async (t) => {
  t.strictSame(packets([400, 3, 0, 5, 2, 0, 21, 41]), [0, 2, 0, 0, 3, 0, 2, 1])
})

test('over the agent each frame of speech goes out at once', async (t) => {
  t.strictSame(packets([2, 0, 3, 0], { contested: true }), [1, 1, 1, 1])
})

test('silence goes out in fives once nothing is awaited, or nothing comes', async (t) => {
  const silence = (fromMs: number) => Array.from({ length: 10 }, (_, i) => fromMs + 20 * i)
  t.strictSame(packets(silence(300)), [0, 0, 0, 0, 5, 0, 0, 0, 0, 5])
  t.strictSame(packets(silence(300), { awaited: true }), Array(10).fill(1))
  t.strictSame(packets(silence(1_500), { awaited: true }), [0, 0, 0, 0, 5, 0, 0, 0, 0, 5])
})
