import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { RequestBody } from '../../../../api/http/body.ts'
import { readMultipart, type UploadedFile } from '../../../../api/http/multipart.ts'

const BOUNDARY = 'xyz'

/** A body that arrives in pieces of this size. */
function arriving(text: string, pieceBytes = 1 << 20): RequestBody {
  const body = new RequestBody({ pause() {}, resume() {} })
  const bytes = Buffer.from(text)
  if (bytes.length === 0) body.push(new ArrayBuffer(0), true)
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes)
    const copy = new Uint8Array(piece).buffer
    body.push(copy, at + pieceBytes >= bytes.length)
  }
  return body
}

const field = (name: string, value: string) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (name: string, filename: string, content: string) =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: text/csv\r\n\r\n${content}\r\n`
const end = `--${BOUNDARY}--\r\n`

function read(body: RequestBody, receive: (file: UploadedFile) => Promise<void>, maxFileBytes = 1000) {
  const source = {
    contentType: `multipart/form-data; boundary=${BOUNDARY}`,
    body,
    signal: new AbortController().signal,
  }
  return readMultipart(source, { maxFileBytes }, receive)
}

async function contentOf({ content }: UploadedFile): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of content) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

t.test('files are received one after the other, fields come back together', async (t) => {
  const text =
    field('name', 'First') + file('files', 'a.csv', 'aaa') + file('files', 'b.csv', 'bbb') + field('late', 'é') + end
  for (const pieceBytes of [1, 7, 1000]) {
    const log: string[] = []
    const form = await read(arriving(text, pieceBytes), async (file) => {
      log.push(`start ${file.field} ${file.filename} ${file.contentType}`)
      await sleep(2)
      log.push(await contentOf(file))
    })
    t.same(log, ['start files a.csv text/csv', 'aaa', 'start files b.csv text/csv', 'bbb'])
    t.same({ ...form.fields }, { name: 'First', late: 'é' })
    t.same({ ...form.files }, { files: 2 })
  }
})

t.test('a file over the limit fails while it streams', async (t) => {
  const read1000 = (size: number) =>
    read(arriving(file('file', 'a.csv', 'x'.repeat(size)) + end, 100), async (file) => void (await contentOf(file)))
  await t.rejects(read1000(1001), { code: 'file_too_large' })
  t.match(await read1000(999), { files: { file: 1 } })
})

t.test('more than a hundred files or fields are no form', async (t) => {
  const ignore = async (file: UploadedFile) => void (await contentOf(file))
  const parts = (count: number, one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join('')
  for (const one of [(i: number) => file('files', `${i}.csv`, 'x'), (i: number) => field(`name${i}`, 'x')]) {
    await read(arriving(parts(100, one) + end), ignore)
    await t.rejects(read(arriving(parts(101, one) + end), ignore), { code: 'malformed_body' })
  }
})

t.test('what is no multipart body, or only the beginning of one, is malformed', async (t) => {
  const whole = field('name', 'x') + file('file', 'a.csv', 'aaa') + end
  const receive = async (file: UploadedFile) => void (await contentOf(file))
  for (const text of [
    '',
    'nonsense',
    whole.slice(0, 60),
    whole.slice(0, whole.length - 10),
    whole.slice(0, whole.length - 40),
  ]) {
    await t.rejects(read(arriving(text), receive), { code: 'malformed_body' }, JSON.stringify(text))
  }
  const body = arriving(whole)
  const signal = new AbortController().signal
  for (const contentType of ['application/json', 'multipart/form-data', '']) {
    await t.rejects(readMultipart({ contentType, body, signal }, { maxFileBytes: 10 }, receive), {
      code: 'wrong_content_type',
    })
  }
})

t.test('what the receiver throws is what the caller gets, and nothing hangs', async (t) => {
  const text = file('file', 'a.csv', 'x'.repeat(300_000)) + file('file', 'b.csv', 'y') + end
  await t.rejects(
    read(arriving(text, 10_000), () => Promise.reject(new Error('disk full')), 1_000_000),
    { message: 'disk full' },
  )
  const form = await read(arriving(text, 10_000), async () => {}, 1_000_000)
  t.same({ ...form.files }, { file: 2 }, 'a file nobody reads is skipped')
})

t.test('a client that goes away ends the upload', async (t) => {
  const body = new RequestBody({ pause() {}, resume() {} })
  const reading = read(body, async (file) => void (await contentOf(file)))
  body.push(new Uint8Array(Buffer.from(file('file', 'a.csv', 'aaa').slice(0, -4))).buffer, false)
  await sleep(5)
  body.abort()
  await t.rejects(reading, { code: 'malformed_body' })
})
