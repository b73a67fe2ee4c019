import fc from 'fast-check'
import t from 'tap'
import { bytesOf, SampleReader } from '../../../../../runtime/plugin-sdk/speech/pcm.ts'

t.test('samples come out as they went in, wherever the bytes are cut', async (t) => {
  const comesOut = () =>
    fc.assert(
      fc.property(fc.int16Array(), fc.array(fc.nat(9), { maxLength: 20 }), (samples, cuts) => {
        const reader = new SampleReader()
        const bytes = bytesOf(samples)
        const out: number[] = []
        let at = 0
        for (const length of [...cuts, bytes.length]) {
          out.push(...reader.push(bytes.subarray(at, at + length)))
          at += length
        }
        return out.join() === samples.join()
      }),
    )
  t.doesNotThrow(comesOut)
})
