import fc from 'fast-check'
import t from 'tap'
import { OpusSender } from '../../../../../api/realtime/webrtc/opus-sender.ts'
import { OPUS_SILENCE } from '../../../../../runtime/media/codecs/opus-packet.ts'

const speech = (n: number) => Uint8Array.of(0x68, n, n, n)
const isSpeech = (frame: Uint8Array) => frame[0] === 0x68

t.test('speech leaves at once, and silence where there is none', async (t) => {
  const sender = new OpusSender()
  sender.push(speech(1))
  t.same(sender.take(1_000).frames, [{ frame: speech(1), position: 0 }])
  sender.push(speech(2))
  t.same(sender.take(1_005).frames, [], 'one frame every 20 ms')
  t.same(sender.take(1_020).frames, [{ frame: speech(2), position: 1 }])
  t.same(sender.take(1_040).frames, [], 'the next may be late')
  t.same(sender.take(1_080).frames, [{ frame: OPUS_SILENCE, position: 2 }])
})

t.test('a mark is reached once what came before it was heard', async (t) => {
  const sender = new OpusSender()
  sender.push(speech(1))
  sender.mark(7)
  t.same(sender.take(1_000).reached, [])
  t.same(sender.take(1_050).reached, [])
  t.same(sender.take(1_070).reached, [7])
  sender.push(speech(2))
  sender.mark(8)
  t.same(sender.clear(), [8], 'what is dropped is nobody’s to wait for')
  t.notOk(sender.take(1_200).frames.some(({ frame }) => isSpeech(frame)))
})

t.test('a tone sounds where there is no speech', async (t) => {
  const sender = new OpusSender()
  sender.take(1_000)
  sender.setBackground((index) => (index % 2 === 0 ? speech(index) : undefined))
  const frames = [1_060, 1_080, 1_100].flatMap((ms) => sender.take(ms).frames.map(({ frame }) => isSpeech(frame)))
  t.same(frames.slice(0, 3), [true, false, true])
})

t.test('whatever comes when, frames keep their order and the time its pace', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ afterMs: fc.integer({ min: 0, max: 90 }), pushed: fc.integer({ min: 0, max: 4 }) }), {
        maxLength: 60,
      }),
      (steps) => {
        const sender = new OpusSender()
        let nowMs = 1_000
        let next = 0
        const sent: { frame: Uint8Array; position: number }[] = []
        for (const { afterMs, pushed } of steps) {
          nowMs += afterMs
          for (let i = 0; i < pushed; i++) sender.push(speech(next++ % 250))
          sent.push(...sender.take(nowMs).frames)
        }
        const numbers = sent.filter(({ frame }) => isSpeech(frame)).map(({ frame }) => frame[1]!)
        const positions = sent.map(({ position }) => position)
        const elapsedFrames = (nowMs - 1_000) / 20
        return (
          numbers.every((number, i) => i === 0 || number > numbers[i - 1]! || number < 10) &&
          positions.every((position, i) => i === 0 || position > positions[i - 1]!) &&
          sent.length <= elapsedFrames + 2
        )
      },
    ),
  )
})
