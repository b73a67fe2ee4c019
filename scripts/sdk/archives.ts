import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { zipOf } from '../../runtime/lib/zip.ts'

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
  return zipOf(Object.entries({ ...all, [`${info}/RECORD`]: Buffer.from(`${record.join('')}${info}/RECORD,,\n`) }))
}
