import { performance } from 'node:perf_hooks'
import t from 'tap'
import { RequestBody } from '../../../../api/http/body.ts'

const MANY_MS = 60_000

function arrival() {
  const body = new RequestBody({ pause() {}, resume() {} })
  const push = (text: string | Uint8Array, last: boolean) =>
    body.push(new Uint8Array(typeof text === 'string' ? Buffer.from(text) : text).buffer, last)
  return { body, push }
}

/** What a reader of the text is told. */
function readText(body: RequestBody, limitBytes = 10) {
  const told: { text?: string; code?: string } = {}
  body.text(limitBytes, {
    done(text) {
      told.text = text
    },
    failed(error) {
      told.code = (error as { code: string }).code
    },
  })
  return told
}

t.test('a text that comes whole is told in the call that brings it', async (t) => {
  const { body, push } = arrival()
  const told = readText(body)
  t.same(told, {})
  push('zwölf', true)
  t.same(told, { text: 'zwölf' })
})

t.test('a text that comes in parts or before it is asked for is told whole', async (t) => {
  const [late, parted] = [arrival(), arrival()]
  late.push('early', true)
  const told = [readText(late.body), readText(parted.body)]
  const umlaut = Buffer.from('ö')
  parted.push(umlaut.subarray(0, 1), false)
  await new Promise(setImmediate)
  parted.push(umlaut.subarray(1), false)
  parted.push('', true)
  await new Promise(setImmediate)
  t.same(told, [{ text: 'early' }, { text: 'ö' }])
})

t.test('a text that is too long or no UTF-8 fails, in one part or many', async (t) => {
  for (const isWhole of [true, false]) {
    const [long, garbled] = [arrival(), arrival()]
    const told = [readText(long.body), readText(garbled.body)]
    long.push('12345678901', isWhole)
    garbled.push(Buffer.from([0xc3, 0x28]), isWhole)
    if (!isWhole) garbled.push('', true)
    await new Promise(setImmediate)
    t.same(told, [{ code: 'body_too_large' }, { code: 'malformed_body' }])
  }
})

t.test('who waits for a client that goes away or stalls is told, who does not wait is left alone', async (t) => {
  const [gone, stalled, slow, unread] = [arrival(), arrival(), arrival(), arrival()]
  const told = [gone, stalled, slow].map(({ body }) => readText(body))
  for (const { push } of [stalled, slow, unread]) push('1', false)
  gone.body.abort()
  await new Promise(setImmediate)
  const nowMs = performance.now()
  slow.body.tick(nowMs + 5000)
  stalled.body.tick(nowMs + MANY_MS)
  unread.body.tick(nowMs + MANY_MS)
  for (const { push } of [slow, unread]) push('2', true)
  await new Promise(setImmediate)
  t.same(told, [{ code: 'malformed_body' }, { code: 'malformed_body' }, { text: '12' }])
  t.equal((await unread.body.bytes(10)).toString(), '12')
})

t.test('what is discarded is not kept', async (t) => {
  const { body, push } = arrival()
  push('1', false)
  body.discard()
  push('2', true)
  t.equal((await body.bytes(10)).length, 0)
})
