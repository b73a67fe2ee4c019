import t from 'tap'
import { CallMedia, MediaRefused } from '../../../../../plugins/sip/media/call-media.ts'
import { parseSdp } from '../../../../../plugins/sip/media/sdp.ts'
import { SrtpStream } from '../../../../../plugins/sip/media/srtp.ts'

const SUITE = 'AES_CM_128_HMAC_SHA1_80'
/** Key, salt and packets of libsrtp's own validation. */
const MASTER = Buffer.from('e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6', 'hex')
const PLAIN = Buffer.from('800f1234decafbadcafebabeabababababababababababababababab', 'hex')
const SEALED = Buffer.from('800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb', 'hex')

t.test('packets are those of another implementation, and are read again', async (t) => {
  t.same(new SrtpStream(SUITE, MASTER).protect(PLAIN), SEALED)
  const stream = new SrtpStream(SUITE, MASTER)
  t.same(stream.unprotect(SEALED), PLAIN)
  t.equal(stream.unprotect(SEALED), undefined, 'but once')
})

t.test('a packet that was changed, or is of another key, is nobody’s', async (t) => {
  for (const at of [1, 3, 13, SEALED.length - 1]) {
    const forged = Buffer.from(SEALED)
    forged[at]! ^= 1
    t.equal(new SrtpStream(SUITE, MASTER).unprotect(forged), undefined)
  }
  t.equal(new SrtpStream(SUITE, Buffer.from(MASTER).fill(7, 0, 16)).unprotect(SEALED), undefined)
  t.equal(new SrtpStream(SUITE, MASTER).unprotect(Buffer.alloc(11)), undefined)
})

t.test('numbers go round, packets come out of order', async (t) => {
  const [out, back] = [new SrtpStream(SUITE, MASTER), new SrtpStream(SUITE, MASTER)]
  const sealed = Array.from({ length: 400 }, (_, i) => {
    const packet = Buffer.from(PLAIN)
    packet.writeUInt16BE((65_400 + i) & 0xffff, 2)
    return { packet, bytes: out.protect(packet) }
  })
  for (let i = 0; i + 1 < sealed.length; i += 2) {
    for (const { packet, bytes } of [sealed[i + 1]!, sealed[i]!]) t.same(back.unprotect(bytes), packet)
  }
})

t.test('reports are encrypted, read once, and not when forged', async (t) => {
  const report = Buffer.from('81c8000bcafebabeabababababababababababababababab', 'hex')
  const [out, back] = [new SrtpStream(SUITE, MASTER), new SrtpStream(SUITE, MASTER)]
  out.protectRtcp(report)
  const bytes = out.protectRtcp(report)
  t.match(bytes.toString('hex'), /^81c8000bcafebabe7128035be487b9bdbef89041f977a5a880000001/)
  t.same(back.unprotectRtcp(bytes), report)
  t.equal(back.unprotectRtcp(bytes), undefined)
  bytes[20]! ^= 1
  t.equal(new SrtpStream(SUITE, MASTER).unprotectRtcp(bytes), undefined)
})

const local = (port: number) => ({ address: '192.0.2.1', port, sessionId: 1 })

t.test('two sides agree on keys by their descriptions; who requires them takes nothing plain', async (t) => {
  for (const [ours, theirs, encrypted] of [
    ['required', 'required', true],
    ['optional', 'optional', true],
    ['required', 'optional', true],
    ['optional', 'required', true],
    ['optional', 'off', false],
    ['off', 'optional', false],
    ['off', 'off', false],
  ] as const) {
    const [a, b] = [new CallMedia(local(4_000), ['PCMU'], ours), new CallMedia(local(5_000), ['PCMU'], theirs)]
    const { agreement, answer } = b.accept(parseSdp(a.offer()))
    const back = a.complete(parseSdp(answer))
    t.equal(agreement.srtp !== undefined, encrypted, `${ours} offers to ${theirs}`)
    t.same(agreement.srtp?.theirs, back.srtp?.ours)
    t.same(agreement.srtp?.ours, back.srtp?.theirs)
  }
  for (const [ours, theirs] of [
    ['off', 'required'],
    ['required', 'off'],
  ] as const) {
    const [a, b] = [new CallMedia(local(4_000), ['PCMU'], ours), new CallMedia(local(5_000), ['PCMU'], theirs)]
    t.throws(() => b.accept(parseSdp(a.offer())), MediaRefused)
  }
})

t.test('packets that name their key by an identifier are read', async (t) => {
  const master = Buffer.alloc(30, 3)
  const [sender, receiver] = [
    new SrtpStream('AES_CM_128_HMAC_SHA1_80', master),
    new SrtpStream('AES_CM_128_HMAC_SHA1_80', master, 4),
  ]
  const packet = Buffer.concat([Buffer.from([0x80, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9]), Buffer.alloc(160, 5)])
  const sealed = sender.protect(packet)
  const named = Buffer.concat([sealed.subarray(0, -10), Buffer.from([0, 0, 0, 1]), sealed.subarray(-10)])
  t.same(receiver.unprotect(named), packet)
  t.equal(receiver.unprotect(sealed), undefined)
})
