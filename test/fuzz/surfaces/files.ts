import { deflateRawSync } from 'node:zlib'
import { hostileText, mutatedBytes } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'
import type { World } from '../world.ts'

const TIMEOUT_MS = 20_000

async function upload(
  world: World,
  path: string,
  fields: Record<string, string>,
  field: string,
  name: string,
  bytes: Buffer,
) {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) form.append(key, value)
  form.append(field, new Blob([new Uint8Array(bytes)]), name)
  const headers = { cookie: world.hostile.cookies }
  const answer = await fetch(world.instance.url + path, {
    method: 'POST',
    body: form,
    headers,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  await answer.arrayBuffer()
}

/** Lists of numbers: quotes that never close, wide rows, ill-formed text, wrong delimiters. */
export const csv: Surface = {
  name: 'csv',
  open: async (world, random) => ({
    attempt: async () => {
      const fields = { name: 'b', agent_id: world.hostile.agentId, agent_phone_number: world.hostile.number }
      const path = random.pick(['/batch/upload', '/batch/upload', '/batch/preview', '/do-not-call'])
      await upload(world, path, fields, 'file', 'a.csv', csvOf(random))
    },
  }),
}

function csvOf(random: Random): Buffer {
  const delimiter = random.pick([',', ';', '\t', '|'])
  const columns = [
    'phone_number',
    'first_name',
    ...Array.from({ length: random.pick([0, 1, 50, 5_000]) }, (_, i) => `c${i}`),
  ]
  const rows = Array.from({ length: random.below(200) }, () =>
    [`+1415555${1_000 + random.below(9_000)}`, random.chance(0.3) ? hostileText(random, 5_000) : 'Ada', '"x'].join(
      delimiter,
    ),
  )
  const bytes = Buffer.from([columns.join(delimiter), ...rows].join(random.pick(['\n', '\r\n', '\r'])))
  return random.chance(0.5) ? mutatedBytes(random, bytes) : bytes
}

/** Documents of a knowledge base in all formats, broken. */
export const documents: Surface = {
  name: 'documents',
  open: async (world, random) => ({
    attempt: async () => {
      const [name, bytes] = documentOf(random)
      await upload(world, `/agents/${world.hostile.agentId}/upload`, {}, 'files', name, bytes)
    },
  }),
}

function documentOf(random: Random): [string, Buffer] {
  const text = hostileText(random)
  switch (random.below(6)) {
    case 0:
      return ['a.md', Buffer.from(`# x\n\n${text}\n\n|a|b|\n|-|-|\n|${text}|`)]
    case 1:
      return [
        'a.html',
        mutatedBytes(random, Buffer.from(`<html><body><table><tr><td>${'<div>'.repeat(random.below(3_000))}${text}`)),
      ]
    case 2:
      return ['a.txt', random.chance(0.5) ? random.bytes(random.below(20_000)) : Buffer.from(text)]
    case 3:
      return ['a.csv', csvOf(random)]
    case 4:
      return ['a.pdf', mutatedBytes(random, Buffer.from(PDF))]
    default:
      return [
        'a.docx',
        mutatedBytes(
          random,
          zip([
            ['word/document.xml', documentXml(text)],
            ['[Content_Types].xml', TYPES],
          ]),
          random.below(4),
        ),
      ]
  }
}

const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj
4 0 obj<</Length 40>>stream
BT /F1 12 Tf 10 100 Td (Hello there) Tj ET
endstream endobj
trailer<</Root 1 0 R>>
%%EOF`
const TYPES =
  '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>'
const documentXml = (text: string): string =>
  `<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>${text.toWellFormed()}</w:t></w:r></w:p></w:body></w:document>`

/** A ZIP archive of these files, deflated; sums are left out, which readers either check or do not. */
function zip(files: readonly (readonly [string, string])[]): Buffer {
  const locals: Buffer[] = []
  const centrals: Buffer[] = []
  let offset = 0
  for (const [name, text] of files) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content)
    const fixed = Buffer.alloc(26)
    fixed.writeUInt16LE(20, 0)
    fixed.writeUInt16LE(8, 4)
    fixed.writeUInt32LE(packed.length, 14)
    fixed.writeUInt32LE(content.length, 18)
    fixed.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fixed, Buffer.from(name), packed])
    const tail = Buffer.alloc(16)
    tail.writeUInt32LE(offset, 12)
    centrals.push(
      Buffer.concat([
        Buffer.from('PK\x01\x02\x14\x00'),
        fixed,
        tail.subarray(0, 14),
        tail.subarray(12, 16),
        Buffer.from(name),
      ]),
    )
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
