import { createHmac } from 'node:crypto'
import t from 'tap'
import { HmacSha1 } from '../../../../../plugins/sip/media/hmac-sha1.ts'

t.test('digests are those of node:crypto, whatever the length', async (t) => {
  const key = Uint8Array.from({ length: 20 }, (_, i) => 37 * i + 5)
  const own = new HmacSha1(key)
  for (let length = 0; length < 300; length++) {
    const data = Uint8Array.from({ length }, (_, i) => (i * i + length) & 0xff)
    for (const suffix of [undefined, 0, 1, 0xfffffffe]) {
      const theirs = createHmac('sha1', key).update(data)
      if (suffix !== undefined) {
        const bytes = Buffer.alloc(4)
        bytes.writeUInt32BE(suffix)
        theirs.update(bytes)
      }
      const digest = Buffer.alloc(24)
      own.digest(data, suffix, digest, 2, 20)
      if (!digest.subarray(2, 22).equals(theirs.digest())) t.fail(`${length} bytes, suffix ${suffix}`)
    }
  }
  t.throws(() => new HmacSha1(new Uint8Array(65)), RangeError)
})
