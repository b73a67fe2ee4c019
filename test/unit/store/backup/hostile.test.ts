import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { backup, restore } from '../../../../store/backup/command.ts'
import type { Load } from '../../../../store/backup/load.ts'
import { readArchive } from '../../../../store/backup/read-archive.ts'
import { StagedFiles } from '../../../../store/backup/staged-files.ts'
import { TableDigest } from '../../../../store/backup/table-digest.ts'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { makeWorkspaceEventPartitions } from '../../../../store/events/workspace-events.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { emptyDatabase, testFolder } from '../../../support/instance/services.ts'
import { type ArchiveEntry, entriesOf, tarOf, writeEntries } from '../../../support/source/archives.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const BLOCK = 512

interface Head {
  format: number
  migrations: string[]
  tables: { name: string; columns: string[]; partitions: { name: string; bounds?: string }[] }[]
  sequences: { name: string; lastValue: string | null }[]
}

/** An honest backup, and a target that has files of its own and an empty database. */
async function world(t: Test) {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  await ada.client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'x' } })
  await makeEventPartitions(api.store, Date.parse('2031-05-01'))
  await makeWorkspaceEventPartitions(api.store, Date.parse('2031-05-07'))
  const folder = await testFolder(t)
  const dataDir = join(folder, 'data')
  await mkdir(join(dataDir, 'objects/recordings'), { recursive: true })
  await mkdir(join(dataDir, 'secrets'), { recursive: true })
  await writeFile(join(dataDir, 'objects/recordings/one.wav'), Buffer.alloc(3_000, 7))
  await writeFile(join(dataDir, 'secrets/data_key'), 'a-secret\n')
  const file = join(folder, 'honest.tar.gz')
  await backup(file, { databaseUrl: api.databaseUrl, dataDir, searchPath: process.env.PATH, log })

  const target = { databaseUrl: await emptyDatabase(t), dataDir: join(folder, 'target'), searchPath: '', log }
  await mkdir(join(target.dataDir, 'secrets'), { recursive: true })
  await writeFile(join(target.dataDir, 'secrets/data_key'), 'its-own\n')
  await writeFile(join(target.dataDir, 'kept'), 'as it is')
  return { source: api.databaseUrl, folder, file, entries: await entriesOf(file), target }
}

async function query(databaseUrl: string, text: string): Promise<Record<string, string>[]> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    return (await client.query<Record<string, string>>(text)).rows
  } finally {
    await client.end()
  }
}

/** Every file below a folder with a digest of what is in it. */
async function filesOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile())
      found[path] = createHash('sha256')
        .update(await readFile(path))
        .digest('hex')
    else if (!entry.isDirectory()) found[path] = 'no file'
  }
  return found
}

const named = (name: string, content = 'x'): ArchiveEntry => ({ header: { name }, content: Buffer.from(content) })
const whereOf = (entries: readonly ArchiveEntry[], start: string): number =>
  entries.findIndex(({ header }) => header.name.startsWith(start))

/** The archive with its list changed. */
function withHead(entries: readonly ArchiveEntry[], change: (head: Head) => void): ArchiveEntry[] {
  const [first, ...rest] = entries
  const head = JSON.parse(String(first?.content)) as Head
  change(head)
  return [named('patchbay.json', JSON.stringify(head)), ...rest]
}

/** The archive with entries put in before its end. */
const withMore = (entries: readonly ArchiveEntry[], ...more: ArchiveEntry[]): ArchiveEntry[] => [
  ...entries.slice(0, -1),
  ...more,
  ...entries.slice(-1),
]

const table = (head: Head, name: string): Head['tables'][number] => {
  const found = head.tables.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no table ${name}`)
  return found
}

const EVIL = `x"; create table owned (); --`

const CHANGES: readonly [what: string, change: (entries: ArchiveEntry[]) => ArchiveEntry[]][] = [
  ...(
    [
      ['a table of another name', (head) => (table(head, 'agents').name = EVIL)],
      ['a table that is not ours', (head) => (table(head, 'agents').name = 'pg_proc')],
      ['a table less', (head) => head.tables.pop()],
      ['a table twice', (head) => head.tables.push(table(head, 'agents'))],
      ['a column of another name', (head) => (table(head, 'agents').columns[0] = EVIL)],
      ['a column that is not ours', (head) => table(head, 'agents').columns.push('xmin')],
      ['a column less', (head) => table(head, 'agents').columns.pop()],
      ['a column twice', (head) => table(head, 'agents').columns.push('id')],
      ['no columns', (head) => (table(head, 'agents').columns = [])],
      ['a partition of another name', (head) => (table(head, 'call_events').partitions[0] = { name: EVIL })],
      ['a partition of no period', (head) => table(head, 'call_events').partitions.push({ name: 'call_events_all' })],
      [
        'a partition of no month',
        (head) => table(head, 'call_events').partitions.push({ name: 'call_events_2031_13' }),
      ],
      ['a partition of what has none', (head) => table(head, 'agents').partitions.push({ name: 'agents_2031_05' })],
      ...['cool_events_2031_08', 'call_events_2031_02_30', 'call_events_0031_08'].map(
        (name): [string, (head: Head) => unknown] => [
          `a partition ${name}`,
          (head) => table(head, 'call_events').partitions.push({ name }),
        ],
      ),
      [
        'partitions that overlap',
        (head) => table(head, 'call_events').partitions.push({ name: 'call_events_2031_05_07' }),
      ],
      ['a sequence that is not ours', (head) => head.sequences.push({ name: 'other_seq', lastValue: '1' })],
      ['a sequence of another name', (head) => head.sequences.push({ name: EVIL, lastValue: '1' })],
      [
        'a place of a sequence that is no number',
        (head) => (head.sequences = [{ name: 'workspace_events_seq', lastValue: '1); --' }]),
      ],
      [
        'a place of a sequence out of its range',
        (head) => (head.sequences = [{ name: 'workspace_events_seq', lastValue: '9'.repeat(19) }]),
      ],
      ['a migration of another name', (head) => head.migrations.push(EVIL)],
      ['a migration that is not known', (head) => head.migrations.push('9999-later')],
      ['no migrations', (head) => (head.migrations = [])],
      ['another format', (head) => (head.format = 3)],
    ] as [string, (head: Head) => unknown][]
  ).map(([what, change]): (typeof CHANGES)[number] => [
    what,
    (entries) => withHead(entries, (head) => void change(head)),
  ]),
  ['a list that is none', (entries) => [named('patchbay.json', '[]'), ...entries.slice(1)]],
  ['a list that is no JSON', (entries) => [named('patchbay.json', '{'), ...entries.slice(1)]],
  ['a list of many bytes', (entries) => [named('patchbay.json', `"${'x'.repeat(5 * 2 ** 20)}"`), ...entries.slice(1)]],
  ['no list', (entries) => entries.slice(1)],
  ['two lists', (entries) => [...entries.slice(0, 1), ...entries]],
  ['no end', (entries) => entries.slice(0, -1)],
  ['something behind its end', (entries) => [...entries, named('files/secrets/late')]],
  ['an entry of another kind', (entries) => withMore(entries, named('programs/run.sh'))],
  [
    'a folder',
    (entries) =>
      withMore(entries, { header: { name: 'files/objects/x', type: 'directory' }, content: Buffer.alloc(0) }),
  ],
  [
    'a symbolic link',
    (entries) =>
      withMore(
        entries,
        { header: { name: 'files/objects/out', type: 'symlink', linkname: '/tmp' }, content: Buffer.alloc(0) },
        named('files/objects/out/file'),
      ),
  ],
  [
    'a hard link',
    (entries) =>
      withMore(entries, {
        header: { name: 'files/objects/out', type: 'link', linkname: '/etc/passwd' },
        content: Buffer.alloc(0),
      }),
  ],
  ...[
    'files/../outside',
    'files/secrets/../../outside',
    'files//etc/passwd',
    'files/kept',
    'files/postgres/postgresql.conf',
    'files/secrets',
    'files/secrets/',
    'files/secrets\\..\\..\\outside',
    'files/objects/\u001b[2J',
    `files/objects/${'x'.repeat(300)}`,
    `files/objects/${'x/'.repeat(2_000)}x`,
  ].map((name): (typeof CHANGES)[number] => [
    `a file ${JSON.stringify(name).slice(0, 60)}`,
    (entries) => withMore(entries, named(name)),
  ]),
  ['a file twice', (entries) => withMore(entries, named('files/secrets/data_key'))],
  ['a file in a file', (entries) => withMore(entries, named('files/secrets/data_key/x'))],
  ['rows of a table that is not in its list', (entries) => withMore(entries, named('tables/pg_proc/0'))],
  [
    'rows that are none',
    (entries) =>
      entries.map((entry) =>
        /^tables\/agents\//.test(entry.header.name) ? named(entry.header.name, 'x\ty\n') : entry,
      ),
  ],
  [
    'rows whose keys lead nowhere',
    (entries) => entries.filter(({ header }) => !/^tables\/workspaces\//.test(header.name)),
  ],
  [
    'a piece less',
    (entries) =>
      entries.map((entry) =>
        entry.header.name === 'tables/agents/0' ? { ...entry, header: { name: 'tables/agents/1' } } : entry,
      ),
  ],
  [
    'rows in two places',
    (entries) => withMore(entries, { header: { name: 'tables/agents/0' }, content: Buffer.alloc(0) }),
  ],
]

t.test('an archive that was changed restores nothing and touches no file', { timeout: 900_000 }, async (t) => {
  const { folder, entries, target } = await world(t)
  const before = await filesOf(folder)
  const path = join(await testFolder(t), 'changed.tar.gz')
  for (const [what, change] of CHANGES) {
    await writeEntries(path, change([...entries]))
    const error = await restore(path, target).then(
      () => undefined,
      (cause) => cause,
    )
    t.type(error, PatchbayError, `${what}: ${error?.stack}`)
    t.equal(error?.code, 'configuration', what)
    t.notMatch(error?.message, /\p{Cc}/u, `${what}: ${error?.message}`)
    t.same(await filesOf(folder), before, what)
  }
  for (const name of ['users', 'workspaces', 'agents']) {
    t.same(await query(target.databaseUrl, `select from ${name}`), [], `${name} are still empty`)
  }
  t.same(await query(target.databaseUrl, `select from pg_class where relname = 'owned'`), [])
})

t.test('bounds in the list are not read: those of the partitions follow from their names', async (t) => {
  const { source, entries, target, folder } = await world(t)
  const path = join(folder, 'bounds.tar.gz')
  const changed = withHead(entries, (head) => {
    for (const { partitions } of head.tables)
      for (const one of partitions) one.bounds = `default; create table owned (); --`
  })
  await writeEntries(path, changed)
  t.match(await restore(path, target), /^Restored/)
  const partitions = `select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bounds from pg_class c where relispartition order by 1`
  const there = await query(target.databaseUrl, partitions)
  t.same(there, await query(source, partitions))
  t.match(there.map(({ name }) => name).join(), /call_events_2031_05.*workspace_events_2031_05_07/)
  t.same(await query(target.databaseUrl, `select from pg_class where relname = 'owned'`), [])
  t.equal(await readFile(join(target.dataDir, 'secrets/data_key'), 'utf8'), 'a-secret\n')
  t.same((await readdir(target.dataDir)).sort(), ['kept', 'objects', 'secrets'], 'nothing is left beside')
})

t.test('files that cannot all take their places leave those that were there, and no data', async (t) => {
  const { file, target } = await world(t)
  await writeFile(join(target.dataDir, 'objects'), 'in the way')
  const before = await filesOf(target.dataDir)
  await t.rejects(restore(file, target))
  t.same(await filesOf(target.dataDir), before)
  t.same(await query(target.databaseUrl, 'select from users'), [])
})

t.test('what a restore left that was cut short is put back by the next', async (t) => {
  const { file, target, folder } = await world(t)
  const outgoing = join(target.dataDir, 'restoring/outgoing/secrets')
  await mkdir(outgoing, { recursive: true })
  await writeFile(join(outgoing, 'data_key'), 'of before\n')
  await t.rejects(restore(join(folder, 'missing'), target), { message: /there is no such file/ })
  t.equal(await readFile(join(target.dataDir, 'secrets/data_key'), 'utf8'), 'of before\n')
  t.match(await restore(file, target), /^Restored/)
})

/** Takes all rows, keeps none. */
async function anyLoad(): Promise<Load> {
  const nothing = async (): Promise<void> => {}
  return {
    rows: async (_table, data) => {
      const digest = new TableDigest()
      for await (const chunk of data as AsyncIterable<Buffer>) digest.update(chunk)
      return digest.rows
    },
    check: nothing,
    commit: nothing,
    upgrade: nothing,
    close: nothing,
  }
}

t.test('a database that opens late for an archive that broke off meanwhile is closed again', async (t) => {
  const { entries, folder } = await world(t)
  const path = join(folder, 'cut.tar.gz')
  // Its head is whole; the sum of the gzip is missing.
  await writeFile(path, gzipSync(await tarOf(entries.slice(0, 1))).subarray(0, -8))
  const files = await StagedFiles.open(join(await testFolder(t), 'data'))
  const [brokenOff, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const reading = readArchive(path, files, async () => {
    await brokenOff.promise
    return { ...(await anyLoad()), close: async () => closed.resolve() }
  })
  // Longer than the reader of an archive that broke off is waited for.
  setTimeout(() => brokenOff.resolve(), 3_000)
  await t.rejects(reading, { code: 'configuration', message: /is no whole backup/ })
  await closed.promise
  await files.putBack()
})

t.test('an archive that ends after any block, or has impossible lengths, is no whole one', async (t) => {
  const { entries, folder } = await world(t)
  const dataDir = join(await testFolder(t), 'data')
  const path = join(folder, 'cut.tar.gz')
  const isRefused = async (tar: Buffer, what: string): Promise<void> => {
    await writeFile(path, gzipSync(tar, { level: 1 }))
    const files = await StagedFiles.open(dataDir)
    await t.rejects(readArchive(path, files, anyLoad), { code: 'configuration', message: /is no whole backup/ }, what)
    await files.putBack()
  }
  const tar = await tarOf(entries)
  const end = tar.length - 3 * BLOCK
  for (let bytes = 0; bytes <= end; bytes += BLOCK) await isRefused(tar.subarray(0, bytes), `${bytes} bytes`)
  for (let bytes = 100; bytes < end; bytes += 41 * BLOCK) await isRefused(tar.subarray(0, bytes), `${bytes} bytes`)

  const at = whereOf(entries, 'files/')
  const upTo = (await tarOf(entries.slice(0, at))).subarray(0, -2 * BLOCK)
  const rest = await tarOf(entries.slice(at))
  for (const [what, size] of [
    ['8 GiB', Buffer.from('77777777777\0')],
    ['all bits', Buffer.alloc(12, 0xff)],
    ['2^62', Buffer.from([0x80, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0])],
    ['letters', Buffer.from('zzzzzzzzzzz\0')],
  ] as const) {
    const changed = Buffer.from(rest)
    size.copy(changed, 124)
    await isRefused(Buffer.concat([upTo, summed(changed)]), what)
  }
  for (const pax of ['14 size=99999\n', '11 size=-5\n', '12 size=abc\n', '24 size=18446744073709551615\n']) {
    await isRefused(Buffer.concat([upTo, extended(pax), rest]), pax)
  }
  const huge = Buffer.from(extended('9 a=b\n'))
  Buffer.from('77777777777\0').copy(huge, 124)
  await isRefused(Buffer.concat([upTo, summed(huge), rest]), 'a long header of 8 GiB')
  t.same(await readdir(dataDir).catch(() => []), [])
})

/** With the checksum of the first header made right. */
function summed(tar: Buffer): Buffer {
  tar.fill(' ', 148, 156)
  const sum = tar.subarray(0, BLOCK).reduce((total, byte) => total + byte, 0)
  tar.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return tar
}

/** A header that says more of the next one. */
function extended(text: string): Buffer {
  const blocks = Buffer.alloc(2 * BLOCK)
  blocks.write('PaxHeader')
  blocks.write('0000644\0', 100)
  blocks.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124)
  blocks.write('x', 156)
  blocks.write('ustar\u000000', 257)
  blocks.write(text, BLOCK)
  return summed(blocks)
}
