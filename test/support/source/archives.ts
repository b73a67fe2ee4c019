import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { createGunzip, gzipSync } from 'node:zlib'
import { extract, type Header, pack } from 'tar-stream'

export interface ArchiveEntry {
  header: { name: string } & Partial<Header>
  content: Buffer
}

/** What is in a .tar.gz, to be changed. */
export async function entriesOf(path: string): Promise<ArchiveEntry[]> {
  const entries: ArchiveEntry[] = []
  const tar = createReadStream(path).pipe(createGunzip()).pipe(extract())
  for await (const entry of tar) entries.push({ header: entry.header, content: await buffer(entry) })
  return entries
}

export async function tarOf(entries: readonly ArchiveEntry[]): Promise<Buffer> {
  const tar = pack()
  for (const { header, content } of entries) {
    const { name, type, linkname } = header
    tar.entry({ name, type: type ?? 'file', ...(linkname == null ? {} : { linkname }) }, content)
  }
  tar.finalize()
  return buffer(tar)
}

export async function writeEntries(path: string, entries: readonly ArchiveEntry[]): Promise<void> {
  await writeFile(path, gzipSync(await tarOf(entries), { level: 1 }))
}
