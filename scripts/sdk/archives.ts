import { createHash } from 'node:crypto'
import { crc32, gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** Packages as npm and pip install them. The same files make the same bytes. */

type Files = Readonly<Record<string, string | Buffer>>

/** A tarball of npm. */
export async function npmTarball(files: Files): Promise<Buffer> {
  const tar = pack()
  for (const [name, content] of Object.entries(files))
    tar.entry({ name: `package/${name}`, mtime: new Date(0) }, content)
  tar.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of tar) chunks.push(chunk as Buffer)
  return gzipSync(Buffer.concat(chunks), { level: 9 })
}

/** A wheel (PyPA's binary distribution format 1.0) of pure Python. */
export function wheel(name: string, version: string, files: Files, metadata: string): Buffer {
  const info = `${name}-${version}.dist-info`
  const all: Record<string, Buffer> = Object.fromEntries(
    Object.entries({
      ...files,
      [`${info}/METADATA`]: metadata,
      [`${info}/WHEEL`]: 'Wheel-Version: 1.0\nGenerator: patchbay\nRoot-Is-Purelib: true\nTag: py3-none-any\n',
    }).map(([path, content]) => [path, Buffer.from(content)]),
  )
  const record = Object.entries(all).map(([path, content]) => {
    const digest = createHash('sha256').update(content).digest('base64url')
    return `${path},sha256=${digest},${content.length}\n`
  })
  return zip({ ...all, [`${info}/RECORD`]: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) })
}

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const END = 0x06054b50
/** 1 January 1980, the first day of the format. */
const FIRST_DAY = 0x21

/** A ZIP archive of files as they are (APPNOTE.TXT 6.3, 4.3): they are small. */
export function zip(files: Readonly<Record<string, Buffer>>): Buffer {
  const parts: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const [path, content] of Object.entries(files)) {
    const name = Buffer.from(path)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x800, 2)
    common.writeUInt16LE(FIRST_DAY, 8)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(content.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([uint32(LOCAL), common, name, content])
    const place = Buffer.alloc(14)
    place.writeUInt32LE((0o100644 << 16) >>> 0, 6)
    place.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([uint32(CENTRAL), Buffer.from([20, 3]), common, place, name]))
    parts.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(central.length, 4)
  end.writeUInt16LE(central.length, 6)
  end.writeUInt32LE(directory.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...parts, directory, uint32(END), end])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
