import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'
import { runMain } from '../../support/instance/instance.ts'
import { hostileText, mutatedBytes, mutatedJson } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'

interface Entry {
  name: string
  content: Buffer
}

/** Backups written by somebody else, restored into an empty data folder. What they hold must never run. */
export const backup: Surface = {
  name: 'backup',
  async open(world, random) {
    const folder = await mkdtemp(join(tmpdir(), 'patchbay-fuzz-backup-'))
    const archive = join(folder, 'backup.tar.gz')
    const { code, stderr } = await runMain(['backup', archive], { PATCHBAY_DATA_DIR: world.instance.dataDir })
    if (code !== 0) throw new Error(`No backup was written: ${stderr}`)
    const entries = await entriesOf(gunzipSync(await readFile(archive)))
    const marker = join(folder, 'was-run')
    let attempts = 0
    return {
      attempt: async () => {
        const target = join(folder, `data-${attempts++}`)
        const path = join(folder, 'hostile.tar.gz')
        await writeFile(path, await hostileArchive(random, entries, marker))
        const restored = await runMain(['restore', path], { PATCHBAY_DATA_DIR: target })
        if (restored.code === null) throw new Error('The restore was ended by a signal')
        const ran = await access(marker).then(
          () => true,
          () => false,
        )
        if (ran) throw new OracleFailure('A backup ran a command of its own')
        await rm(target, { recursive: true, force: true })
      },
      close: () => rm(folder, { recursive: true, force: true }),
    }
  },
}

/** What an attempt itself saw that must not be. */
export class OracleFailure extends Error {}

async function entriesOf(tar: Buffer): Promise<Entry[]> {
  const entries: Entry[] = []
  const reader = extract()
  reader.end(tar)
  for await (const entry of reader) entries.push({ name: entry.header.name, content: await buffer(entry) })
  return entries
}

async function hostileArchive(random: Random, entries: readonly Entry[], marker: string): Promise<Buffer> {
  const injected = `default; copy (select 1) to program 'touch ${marker}'; --`
  const changed = entries.map(({ name, content }) => {
    if (name === 'patchbay.json') return { name, content: Buffer.from(head(random, content.toString(), injected)) }
    if (random.chance(0.03))
      return {
        name: random.pick([`../${name}`, `files/../../x`, 'files/secrets/data_key', `/${name}`, 'end']),
        content,
      }
    if (random.chance(0.03)) return { name, content: mutatedBytes(random, content) }
    return { name, content }
  })
  const tar = pack()
  for (const { name, content } of changed) if (!random.chance(0.01)) tar.entry({ name }, content)
  if (random.chance(0.2)) tar.entry({ name: 'files/objects/x', type: 'symlink', linkname: '/etc/passwd' })
  tar.finalize()
  const zipped = gzipSync(await buffer(tar), { level: 1 })
  return random.chance(0.3) ? mutatedBytes(random, zipped, 1) : zipped
}

function head(random: Random, json: string, injected: string): string {
  if (random.chance(0.3)) return mutatedJson(random, JSON.parse(json), 0.02)
  const value = JSON.parse(json, (_, field: unknown) => {
    if (typeof field !== 'string' || !random.chance(0.02)) return field
    return random.pick([injected, `${field}"; ${injected}`, hostileText(random, 200).toWellFormed()])
  }) as unknown
  return JSON.stringify(value)
}
