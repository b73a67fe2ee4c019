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

/** What the reader of the text gets. */
function readText(body: RequestBody, limitBytes = 10): Promise<{ text: string } | { code: string }> {
  return body.text(limitBytes).then(
    (text) => ({ text }),
    (error: { code: string }) => ({ code: error.code }),
  )
}

t.test('a text is read whole, in one part or many, before it is asked for or after', async (t) => {
  const [late, parted, whole] = [arrival(), arrival(), arrival()]
  late.push('early', true)
  const read = Promise.all([late, parted, whole].map(({ body }) => readText(body)))
  whole.push('zwölf', true)
  const umlaut = Buffer.from('ö')
  parted.push(umlaut.subarray(0, 1), false)
  await new Promise(setImmediate)
  parted.push(umlaut.subarray(1), false)
  parted.push('', true)
  t.same(await read, [{ text: 'early' }, { text: 'ö' }, { text: 'zwölf' }])
})

t.test('a text that is too long or no UTF-8 fails, in one part or many', async (t) => {
  for (const isWhole of [true, false]) {
    const [long, garbled] = [arrival(), arrival()]
    const read = Promise.all([readText(long.body), readText(garbled.body)])
    long.push('12345678901', isWhole)
    garbled.push(Buffer.from([0xc3, 0x28]), isWhole)
    if (!isWhole) garbled.push('', true)
    t.same(await read, [{ code: 'body_too_large' }, { code: 'malformed_body' }])
  }
})

t.test(
  'a reader of a body whose client disconnects or stalls gets an error, a body without a reader does not fail',
  async (t) => {
    const [gone, stalled, slow, unread] = [arrival(), arrival(), arrival(), arrival()]
    const read = Promise.all([gone, stalled, slow].map(({ body }) => readText(body)))
    for (const { push } of [stalled, slow, unread]) push('1', false)
    gone.body.abort()
    await new Promise(setImmediate)
    const nowMs = performance.now()
    slow.body.tick(nowMs + 5000)
    stalled.body.tick(nowMs + MANY_MS)
    unread.body.tick(nowMs + MANY_MS)
    for (const { push } of [slow, unread]) push('2', true)
    t.same(await read, [{ code: 'malformed_body' }, { code: 'malformed_body' }, { text: '12' }])
    t.equal((await unread.body.bytes(10)).toString(), '12')
  },
)

t.test('what is discarded is not kept', async (t) => {
  const { body, push } = arrival()
  push('1', false)
  body.discard()
  push('2', true)
  t.equal((await body.bytes(10)).length, 0)
})
