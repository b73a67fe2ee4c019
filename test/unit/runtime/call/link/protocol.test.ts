import fc from 'fast-check'
import t from 'tap'
import {
  AudioWriter,
  decodeAudio,
  decodeNodeMessage,
  decodeWorkerMessage,
  sessionIn,
} from '../../../../../runtime/call/link/protocol.ts'

const chunk = fc.record({
  session: fc.integer({ min: 0, max: 0xffffffff }),
  timestamp: fc.maxSafeNat(),
  bytes: fc.uint8Array({ maxLength: 2000 }),
})

function encode(chunks: readonly { session: number; timestamp: number; bytes: Uint8Array }[]): Uint8Array[] {
  const writer = new AudioWriter()
  const messages: Uint8Array[] = []
  for (const { session, timestamp, bytes } of chunks) {
    if (writer.add(session, timestamp, bytes)) continue
    messages.push(writer.take()!)
    writer.add(session, timestamp, bytes)
  }
  const last = writer.take()
  return last === undefined ? messages : [...messages, last]
}

t.test('audio of many sessions comes out of its messages as it went in', async (t) => {
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 200 }), (chunks) => {
      const decoded = encode(chunks).flatMap((message) => decodeAudio(message) ?? [])
      t.equal(decoded.length, chunks.length)
      for (const [i, { session, timestamp, bytes }] of decoded.entries()) {
        const sent = chunks[i]!
        if (session !== sent.session || timestamp !== sent.timestamp || Buffer.compare(bytes, sent.bytes) !== 0) {
          throw new Error(`chunk ${i} differs`)
        }
      }
    }),
    { numRuns: 50 },
  )
})

t.test('audio bytes may be reused once they were added', async (t) => {
  const writer = new AudioWriter()
  const bytes = new Uint8Array([1, 2, 3, 4])
  writer.add(7, 0, bytes)
  bytes.fill(9)
  t.same([...decodeAudio(writer.take()!)![0]!.bytes], [1, 2, 3, 4])
  t.equal(writer.take(), undefined, 'a writer that was taken from is empty')
})

t.test('a chunk too long for the format is refused', async (t) => {
  t.throws(() => new AudioWriter().add(1, 0, new Uint8Array(0x10000)), RangeError)
})

t.test('an audio message that is cut, longer or changed anywhere never throws', async () => {
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 5 }), fc.nat(), fc.uint8Array(), (chunks, at, extra) => {
      const [message] = encode(chunks)
      const cut = message!.subarray(0, at % message!.length)
      if (decodeAudio(cut) !== undefined) throw new Error('a cut message was taken')
      if (extra.length > 0 && decodeAudio(Buffer.concat([message!, extra])) !== undefined) {
        throw new Error('a message with a tail was taken')
      }
      const changed = message!.slice()
      changed[at % changed.length]! ^= 0xff
      decodeAudio(changed)
    }),
  )
})

t.test('any bytes decode to whole chunks inside them, or to nothing', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const message = new Uint8Array([1, ...bytes])
      for (const { bytes: audio, timestamp } of decodeAudio(message) ?? []) {
        if (audio.buffer !== message.buffer || !Number.isSafeInteger(timestamp)) throw new Error('not inside')
      }
    }),
    { numRuns: 2000 },
  )
})

t.test('a control message is taken only when all its fields are there and right', async (t) => {
  t.same(decodeWorkerMessage('{"type":"clear","session":3}'), { type: 'clear', session: 3 })
  t.same(decodeNodeMessage('{"type":"welcome","nodeId":"a"}'), { type: 'welcome', nodeId: 'a' })
  for (const bad of [
    '',
    'null',
    '[]',
    '{',
    '{"type":"clear"}',
    '{"type":"clear","session":-1}',
    '{"type":"clear","session":1.5}',
    '{"type":"clear","session":"1"}',
    '{"type":"mark","session":1,"id":null}',
    '{"type":"hello","protocol":1,"workerId":"a b","capacity":1,"metricsUrl":""}',
    '{"type":"hello","protocol":1,"workerId":"a/b","capacity":1,"metricsUrl":""}',
    '{"type":"heartbeat","state":"tired","activeSessions":0,"capacity":1}',
    '{"type":"event","session":1,"event":{"type":"turn","text":"","start_ms":null,"end_ms":0}}',
    '{"type":"event","session":1,"event":{"type":"turned"}}',
    '{"type":"__proto__"}',
  ]) {
    t.equal(decodeWorkerMessage(bad), undefined, bad)
    t.equal(decodeNodeMessage(bad), undefined, bad)
  }
})

t.test('any JSON decodes without throwing', async () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (json, text) => {
      for (const input of [json, text, `{"type":"open","session":1,"agent":${json}}`]) {
        decodeWorkerMessage(input)
        decodeNodeMessage(input)
      }
    }),
    { numRuns: 500 },
  )
})

t.test('a control message is bounded before anything walks it, and its session is still known', async (t) => {
  const ask = (depth: number) =>
    `{"type":"ask","session":3,"id":1,"method":"tool","params":${'['.repeat(depth)}${']'.repeat(depth)}}`
  t.not(decodeWorkerMessage(ask(60)), undefined)
  t.equal(decodeWorkerMessage(ask(5_000)), undefined)
  t.equal(decodeNodeMessage(`{"type":"beat","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}`), undefined)
  t.equal(sessionIn(ask(5_000)), 3)
})
