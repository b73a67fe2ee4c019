import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import type { ArchiveEnd } from '../../store/backup/head.ts'
import { runMain } from '../../test/support/instance/instance.ts'
import { emptyDatabase } from '../../test/support/instance/services.ts'
import { type Stand, startStand } from './stand.ts'

const RECORDINGS = 2_000
const RECORDING_BYTES = 64 * 1024
const BEFORE_MS = 10_000
const DOCUMENTS = 200
const DOCUMENTS_AN_UPLOAD = 20
/** What nobody changes after it was filled; here PostgreSQL itself compares. */
const TABLES = ['calls', 'call_turns', 'call_events'] as const

/** Backs up many calls under load, verifies it, restores it elsewhere and compares. Resolves with what is not as it should be. */
export async function backupLarge(options: { calls: number; say(line: string): void }): Promise<string[]> {
  const { calls, say } = options
  const stand = await startStand({ calls, say })
  const teardowns: (() => unknown)[] = []
  const { folder, load } = stand
  try {
    const dataDir = stand.api.dataDir
    const recordings = join(dataDir, 'objects/recordings/large')
    await mkdir(recordings, { recursive: true })
    for (let n = 0; n < RECORDINGS; n++) {
      const bytes = createHash('shake256', { outputLength: RECORDING_BYTES }).update(`recording ${n}`).digest()
      await writeFile(join(recordings, `${n}.wav`), bytes)
    }
    await addDocuments(stand)
    say(`${calls} calls, ${await stand.databaseMb()} MB, ${RECORDINGS} recordings and ${DOCUMENTS} documents`)
    await load.start()
    await sleep(BEFORE_MS)
    say(`Before: ${load.told()}`)
    const secrets = {
      REDIS_URL: 'redis://127.0.0.1:1',
      JWT_API_SECRET: 'j'.repeat(32),
      PATCHBAY_DATA_KEY: 'd'.repeat(32),
    }
    const file = join(folder, 'large.tar.gz')
    const run = async (words: string[], env: Record<string, string>): Promise<void> => {
      const startedMs = performance.now()
      const { code, stdout, stderr } = await runMain(words, { ...secrets, ...env })
      say(
        `${words[0]} took ${((performance.now() - startedMs) / 1_000).toFixed(1)} s: ${stdout.trim().split('\n').at(-1)}`,
      )
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr.slice(-2_000)}`)
    }
    await run(['backup', file], { DATABASE_URL: stand.databaseUrl, PATCHBAY_DATA_DIR: dataDir })
    say(`Meanwhile: ${load.told()}; the file has ${Math.round((await stat(file)).size / 1e6)} MB`)
    await run(['verify', file], { DATABASE_URL: stand.databaseUrl, PATCHBAY_DATA_DIR: dataDir })
    say(`While it was verified: ${load.told()}`)
    const broken = await load.stop()
    const elsewhere = await emptyDatabase({ teardown: (end) => void teardowns.push(end) })
    const restored = join(folder, 'elsewhere')
    await run(['restore', file], { DATABASE_URL: elsewhere, PATCHBAY_DATA_DIR: restored })
    for (const table of TABLES) {
      const [ours, theirs] = [await digestOf(stand.databaseUrl, table), await digestOf(elsewhere, table)]
      say(`${table}: ${ours}`)
      if (ours !== theirs) broken.push(`${table}: ${ours} became ${theirs}`)
    }
    const again = join(folder, 'again.tar.gz')
    await run(['backup', again], { DATABASE_URL: elsewhere, PATCHBAY_DATA_DIR: restored })
    broken.push(...differences(await sumsOf(file), await sumsOf(again)))
    const copies = join(restored, 'objects/recordings/large')
    const names = await readdir(copies)
    if (names.length !== RECORDINGS) broken.push(`${names.length} of ${RECORDINGS} recordings came back`)
    for (const name of names) {
      const isEqual = (await readFile(join(copies, name))).equals(await readFile(join(recordings, name)))
      if (!isEqual) broken.push(`${name} is another recording`)
    }
    return broken
  } finally {
    for (const end of teardowns) await end()
    await stand.stop()
  }
}

/** Of the agent that answers, in every state a document has when nothing goes on. */
async function addDocuments({ rest, agentId }: Stand): Promise<void> {
  for (let n = 0; n < DOCUMENTS; n += DOCUMENTS_AN_UPLOAD) {
    const form = new FormData()
    for (let i = n; i < n + DOCUMENTS_AN_UPLOAD; i++) {
      const lines = Array.from({ length: 200 }, (_, line) => `Article ${i}.${line} costs ${i + line} dollars.`)
      form.append('files', new Blob([lines.join('\n')]), `prices-${i}.txt`)
    }
    await rest.send('POST', `/agents/${agentId}/upload`, form)
  }
  for (;;) {
    const documents = await rest.send<{ status: string }[]>('GET', `/agents/${agentId}/documents`)
    if (documents.length === DOCUMENTS && documents.every(({ status }) => status === 'ready')) return
    await sleep(1_000)
  }
}

/** The sums that a backup ends with: of each table's rows and of all files. */
async function sumsOf(file: string): Promise<ArchiveEnd> {
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, 'end'])
  return JSON.parse(stdout) as ArchiveEnd
}

function differences(before: ArchiveEnd, after: ArchiveEnd): string[] {
  const broken: string[] = []
  const restored = new Map(after.tables.map((table) => [table.name, table]))
  for (const { name, rows, digest } of before.tables) {
    const table = restored.get(name)
    if (table?.rows === rows && table.digest === digest) continue
    broken.push(`table ${name}: ${rows} rows (${digest}) became ${table?.rows} (${table?.digest})`)
  }
  const [had, has] = [JSON.stringify(before.files), JSON.stringify(after.files)]
  if (had !== has) broken.push(`files: ${had} became ${has}`)
  return broken
}

/** The rows that were filled in, and a digest of them that PostgreSQL makes. */
async function digestOf(databaseUrl: string, table: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const key = table === 'calls' ? 'id' : 'call_id'
  const { rows } = await client.query<{ n: string; digest: string }>(
    // What the load added has ids of version 7; those that were filled in are MD5.
    `select count(*) as n, sum(hashtextextended(x::text, 1)) as digest from "${table}" x where substr(${key}::text, 15, 1) <> '7'`,
  )
  await client.end()
  return `${rows[0]?.n} rows, ${rows[0]?.digest}`
}
