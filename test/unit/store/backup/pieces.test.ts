import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { backup, move, restore, verify } from '../../../../store/backup/command.ts'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { emptyDatabase, testFolder } from '../../../support/instance/services.ts'
import { entriesOf, writeEntries } from '../../../support/source/archives.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const LIMIT_MS = 300_000

async function connected(t: Test, databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  t.teardown(() => client.end().catch(() => {}))
  return client
}

/** A digest of each table, made by PostgreSQL. */
async function digestsOf(t: Test, databaseUrl: string): Promise<Record<string, string>> {
  const client = await connected(t, databaseUrl)
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where nspname = 'public' and relkind in ('r', 'p') and not relispartition and relname not in ('migrations', 'backups') order by 1`,
  )
  const digests: Record<string, string> = {}
  for (const { name } of rows) {
    const found = await client.query<{ digest: string }>(
      `select count(*) || ' ' || md5(coalesce(string_agg(md5(x::text), '' order by md5(x::text)), '')) as digest from "${name}" x`,
    )
    digests[name] = found.rows[0]?.digest ?? ''
  }
  await client.end()
  return digests
}

/** Types of the schema's columns of which no row has a value. */
async function typesWithoutValue(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ type: string; table: string; column: string }>(
    `select format_type(a.atttypid, null) as type, c.relname as table, a.attname as column
       from pg_class c join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      where c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'`,
  )
  const seen = new Set<string>()
  for (const { type, table, column } of rows) {
    if (seen.has(type)) continue
    const found = await client.query(`select from "${table}" where "${column}" is not null limit 1`)
    if (found.rowCount !== 0) seen.add(type)
  }
  return [...new Set(rows.map(({ type }) => type))].filter((type) => !seen.has(type))
}

/** An installation with tables of several pieces, values of every type, and large ones. */
async function filled(t: Test) {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const body = { agent_name: 'Ada', system_prompt: 'You answer: "tabs\there", back\\slashes\nand Ünïcödé.' }
  const agent = (await ada.client.post('/agents', { body })).body
  await ada.client.get(`/calls/generate-token?agent_id=${agent.agent_id}`)
  await makeEventPartitions(api.store, Date.now())
  const client = await connected(t, api.databaseUrl)
  const columns = async (table: string, but: string): Promise<string> => {
    const { rows } = await client.query<{ list: string }>(
      `select string_agg(quote_ident(attname), ', ') as list from pg_attribute
        where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' and attname <> $2`,
      [table, but],
    )
    return rows[0]?.list ?? ''
  }
  const list = await columns('calls', 'id')
  await client.query(`update calls set status = 'completed', ended_at = now()`)
  await client.query(
    `insert into calls (id, ${list}) select gen_random_uuid(), ${list} from calls, generate_series(1, 9000)`,
  )
  await client.query(
    `update calls set recording_key = 'recordings/' || id || '.wav', turn_latencies_ms = '{120,-1,2000}'
      where id in (select id from calls order by id limit 3)`,
  )
  await client.query(
    `insert into call_events (call_id, workspace_id, first_seq, last_seq, at, events)
       select id, workspace_id, 0, 0, now(), to_json(repeat(E'a\\\\b\\n\\tÜ', 60)) from calls`,
  )
  await client.query(
    `insert into call_turns (call_id, workspace_id, seq, role, text, start_ms, end_ms)
       select id, workspace_id, 0, 'user', repeat(E'\\\\.\\n', 120), 0, 1 from calls`,
  )
  const { workspace_id } = (await client.query('select workspace_id from agents limit 1')).rows[0] as {
    workspace_id: string
  }
  await client.query(`insert into uploads (id, workspace_id, agent_id) values (gen_random_uuid(), $1, $2)`, [
    workspace_id,
    agent.agent_id,
  ])
  // One value of 24 MiB, and many of 64 KiB.
  await client.query(
    `insert into upload_parts (upload_id, workspace_id, seq, bytes)
       select u.id, u.workspace_id, n, case n when 0 then $1::bytea else sha512(n::text::bytea) || substring($1 from n * 7 for 65000) end
         from uploads u, generate_series(0, 60) n`,
    [Buffer.alloc(24 * 2 ** 20, 'what \\ is \n in \0 it')],
  )
  return { api, client, workspaceId: workspace_id, agentId: agent.agent_id as string }
}

t.test('an installation whose tables take many pieces comes back whole', { timeout: LIMIT_MS }, async (t) => {
  const { api, client, workspaceId } = await filled(t)
  await client.query(
    `insert into trunks (id, workspace_id, name, host, transport, register, allowed_addresses, codecs, max_concurrent_calls, max_calls_per_second, countries)
       values (gen_random_uuid(), $1, 'a', 'sip.example.com', 'udp', false, '[]', '[]', 3, 0.3333333, '{}')`,
    [workspaceId],
  )
  await client.query(
    `insert into trunk_addresses (address, trunk_id, workspace_id, listed) select '203.0.113.7', id, workspace_id, true from trunks`,
  )
  await client.query(`insert into chat_spending (workspace_id, month, cost_usd) values ($1, '2031-05-01', 0.1)`, [
    workspaceId,
  ])
  await client.query(
    `insert into call_ladders (call_id, leg, workspace_id, messages) select id, 1, workspace_id, '[1.50]' from calls limit 1`,
  )
  await client.query(
    `insert into campaign_call_counts (campaign_id, workspace_id, state, n, seats) values (gen_random_uuid(), $1, 'queued', 1, 12345678901234567890.12)`,
    [workspaceId],
  )
  await client.query(`update workspaces set dial_countries = '{GB,US}'`)
  await client.query(
    `insert into node_leases (node_id, calls) select gen_random_uuid(), array[gen_random_uuid(), gen_random_uuid()]`,
  )
  t.same(await typesWithoutValue(client), [], 'a value of every column type is in it')

  const folder = await testFolder(t)
  const dataDir = join(folder, 'data')
  const { rows } = await client.query<{ recording_key: string }>(
    'select recording_key from calls where recording_key is not null order by 1',
  )
  for (const { recording_key } of rows.slice(0, 2)) {
    const path = join(dataDir, 'objects', recording_key)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, Buffer.alloc(2_500_000, recording_key))
  }
  const said: string[] = []
  const options = {
    databaseUrl: api.databaseUrl,
    dataDir,
    searchPath: process.env.PATH,
    log,
    say: (line: string) => said.push(line),
  }
  const file = join(folder, 'backup.tar.gz')
  const told = await backup(file, options)
  t.match(told, /1 of 3 recordings are NOT in it/, 'what it did not find is said')
  const pieces = (await entriesOf(file)).map(({ header }) => header.name)
  for (const table of ['calls', 'call_events', 'call_turns', 'upload_parts'])
    t.ok(pieces.includes(`tables/${table}/2`), `${table} takes three pieces or more`)

  const before = await digestsOf(t, api.databaseUrl)
  const target = { ...options, databaseUrl: await emptyDatabase(t), dataDir: join(folder, 'restored') }
  t.match(await restore(file, target), /^Restored/)
  t.same(await digestsOf(t, target.databaseUrl), before, 'every row is back')
  t.same(
    await readFile(join(target.dataDir, 'objects', rows[0]?.recording_key ?? '')),
    await readFile(join(dataDir, 'objects', rows[0]?.recording_key ?? '')),
  )
  const moved = await emptyDatabase(t)
  t.match(await move(moved, target), /^Moved/)
  t.same(await digestsOf(t, moved), before, 'and so by a move')
})

t.test(
  'ten archives cut or flipped anywhere are refused, and nothing is restored',
  { timeout: LIMIT_MS },
  async (t) => {
    const { api } = await filled(t)
    const folder = await testFolder(t)
    const dataDir = join(folder, 'data')
    await mkdir(join(dataDir, 'objects'), { recursive: true })
    await writeFile(join(dataDir, 'objects/one.wav'), randomBytes(3_000_000))
    const options = { databaseUrl: api.databaseUrl, dataDir, searchPath: process.env.PATH, log }
    const file = join(folder, 'backup.tar.gz')
    await backup(file, options)
    const whole = await readFile(file)
    const target = { ...options, databaseUrl: await emptyDatabase(t), dataDir: join(folder, 'restored') }
    const path = join(folder, 'damaged.tar.gz')
    for (let at = 1; at <= 10; at += 1) {
      const place = Math.floor((whole.length * at) / 10) - 5
      const damaged = Buffer.from(whole)
      damaged[place] = (damaged[place] ?? 0) ^ (1 << (at % 8))
      for (const [what, bytes] of [
        ['flipped', damaged],
        ['cut', whole.subarray(0, place)],
      ] as const) {
        await writeFile(path, bytes)
        const message = /is no whole backup of Patchbay: |can't be restored: /
        await t.rejects(restore(path, target), { code: 'configuration', message }, `${what} at ${place}`)
      }
    }
    const client = await connected(t, target.databaseUrl)
    for (const table of ['users', 'workspaces', 'calls', 'call_events', 'upload_parts'])
      t.equal((await client.query(`select from ${table}`)).rowCount, 0, `${table} is empty`)
    t.same(await readdir(target.dataDir).catch(() => []), [], 'no file is left')
    t.match(await restore(file, target), /^Restored/, 'the whole one is taken afterwards')
  },
)

t.test(
  'a backup is verified in a database of its own, and one that lost rows is not taken',
  { timeout: LIMIT_MS },
  async (t) => {
    const { api } = await filled(t)
    const folder = await testFolder(t)
    const options = { databaseUrl: api.databaseUrl, dataDir: join(folder, 'data'), searchPath: process.env.PATH, log }
    const file = join(folder, 'backup.tar.gz')
    await backup(file, options)
    t.match(
      await verify(file, options),
      /^Verified .*: restored into a scratch database, \d{5} rows of \d+ tables and 0 files equal\.$/,
    )
    t.same(await readdir(folder), ['backup.tar.gz'], 'nothing is left beside it')

    const entries = await entriesOf(file)
    const at = entries.findIndex(({ header }) => header.name === 'tables/call_turns/0')
    const rows = entries[at]?.content ?? Buffer.alloc(0)
    const second = rows.indexOf('\n') + 1
    const third = rows.indexOf('\n', second) + 1
    const shorter = Buffer.concat([rows.subarray(0, second), rows.subarray(third)])
    const other = Buffer.from(rows.toString().replace('\t0\t1\tf', '\t0\t2\tf'))
    for (const [what, content, message] of [
      ['a row less', shorter, /9001 rows of "call_turns" were written, and 9000 are in it/],
      ['a row changed', other, /the rows of "call_turns" are not those that were written/],
    ] as const) {
      const damaged = entries.map((entry, n) => (n === at ? { ...entry, content } : entry))
      const path = join(folder, 'damaged.tar.gz')
      await writeEntries(path, damaged)
      await t.rejects(verify(path, options), { code: 'configuration', message }, what)
      const target = { ...options, databaseUrl: await emptyDatabase(t) }
      await t.rejects(restore(path, target), { code: 'configuration', message }, what)
    }
  },
)

t.test('a backup of format 1, whose end is empty, is still restored', { timeout: LIMIT_MS }, async (t) => {
  const { api } = await filled(t)
  const folder = await testFolder(t)
  const options = { databaseUrl: api.databaseUrl, dataDir: join(folder, 'data'), searchPath: process.env.PATH, log }
  const file = join(folder, 'backup.tar.gz')
  await backup(file, options)
  const entries = (await entriesOf(file)).map(({ header, content }) => {
    if (header.name === 'end') return { header, content: Buffer.alloc(0) }
    if (header.name !== 'patchbay.json') return { header, content }
    return {
      header: { name: header.name },
      content: Buffer.from(JSON.stringify({ ...JSON.parse(String(content)), format: 1 })),
    }
  })
  await writeEntries(file, entries)
  const target = { ...options, databaseUrl: await emptyDatabase(t) }
  t.match(await restore(file, target), /^Restored/)
  t.same(await digestsOf(t, target.databaseUrl), await digestsOf(t, api.databaseUrl))
})
