import reference from 'alawmulaw'
import { test } from 'tap'
import { decodeG711, encodeG711 } from '../../../../../runtime/media/codecs/g711.ts'

const { alaw, mulaw } = reference
const everySample = Int16Array.from({ length: 65536 }, (_, i) => i - 32768)
const everyCode = Uint8Array.from({ length: 256 }, (_, i) => i)

for (const [encoding, oracle] of [
  ['pcmu', mulaw],
  ['pcma', alaw],
] as const) {
  test(`${encoding} decodes every code as the reference does`, (t) => {
    t.strictSame([...decodeG711(encoding, everyCode)], [...oracle.decode(everyCode)])
    t.end()
  })

  test(`${encoding} encodes every sample to the reference's code or one that is as near`, (t) => {
    const ours = decodeG711(encoding, encodeG711(encoding, everySample))
    const theirs = oracle.decode(oracle.encode(everySample))
    let worse = 0
    everySample.forEach((sample, i) => {
      if (Math.abs(ours[i]! - sample) > Math.abs(theirs[i]! - sample) + 1) worse++
    })
    t.equal(worse, 0)
    t.end()
  })

  test(`${encoding} gives back what it was given a second time`, (t) => {
    const once = decodeG711(encoding, everyCode)
    t.strictSame([...decodeG711(encoding, encodeG711(encoding, once))], [...once])
    t.end()
  })
}
