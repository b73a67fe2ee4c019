import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Parser } from '@asyncapi/parser'
import t from 'tap'
import { asyncApiDocument } from '../../../../api/public/asyncapi.ts'

interface Close {
  code: number
  reason: string
  meaning: string
  next: string
}
interface Channel {
  address: string
  'x-close-codes': Close[]
}

const document = asyncApiDocument('https://voice.example.org', '1.0.0')
const channels = document.channels as Record<'realtime' | 'listen', Channel>

t.test('the document is valid AsyncAPI 3.0', async (t) => {
  const { diagnostics, document: parsed } = await new Parser().parse(JSON.stringify(document))
  const problems = diagnostics.filter(({ severity }) => severity <= 1)
  t.same(
    problems.map(({ code, message, path }) => `${code}: ${message} at ${path.join('/')}`),
    [],
  )
  t.same(
    parsed
      ?.channels()
      .all()
      .map((channel) => channel.address()),
    ['/realtime', '/listen'],
  )
  t.ok((parsed?.allMessages().all().length ?? 0) > 30)
})

t.test(
  'every close code has one meaning in a protocol, and no reason is longer than a close frame takes',
  async (t) => {
    for (const { 'x-close-codes': closes } of Object.values(channels)) {
      t.equal(new Set(closes.map(({ reason }) => reason)).size, closes.length)
      for (const { code, reason } of closes) {
        t.ok(code === 1000 || code === 1001 || (code >= 1008 && code <= 1013) || (code >= 4000 && code < 5000), reason)
        t.ok(Buffer.byteLength(reason) <= 123, reason)
      }
    }
  },
)

t.test('docs/realtime.md has the very close codes of the document', async (t) => {
  const page = await readFile(join(import.meta.dirname, '../../../../docs/realtime.md'), 'utf8')
  const rows = [...page.matchAll(/^\| (\d{4}) \| `([^`]+)` \|/gm)].map(([, code, reason]) => `${code} ${reason}`)
  const closes = [...channels.realtime['x-close-codes'], ...channels.listen['x-close-codes']]
  t.same(rows.sort(), closes.map(({ code, reason }) => `${code} ${reason}`).sort())
})
