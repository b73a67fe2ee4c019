import { mkdir, readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import t, { type Test } from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { backupState } from '../../../../store/backup/backup-records.ts'
import { backup, move, restore } from '../../../../store/backup/command.ts'
import { makeEventPartitions } from '../../../../store/calls/call-events.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { emptyDatabase, testFolder } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

/** Every row of every table, in an order of its own. */
async function contentOf(databaseUrl: string): Promise<Record<string, string[]>> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where nspname = 'public' and relkind in ('r', 'p') and not relispartition and relname not in ('migrations', 'backups') order by 1`,
    )
    const content: Record<string, string[]> = {}
    for (const { name } of rows) {
      const found = await client.query<{ row: string }>(`select x::text as row from "${name}" x order by 1`)
      content[name] = found.rows.map(({ row }) => row)
    }
    return content
  } finally {
    await client.end()
  }
}

async function furnished(t: Test) {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const body = { agent_name: 'Ada', system_prompt: 'You answer: "tabs\there", back\\slashes\nand Ünïcödé.' }
  const agent = (await ada.client.post('/agents', { body })).body
  await ada.client.post('/phone-numbers', {
    body: { phone_number: '+14155550100', provider: 'sim', agent_id: agent.agent_id },
  })
  const call = (await ada.client.get(`/calls/generate-token?agent_id=${agent.agent_id}`)).body
  await makeEventPartitions(api.store, Date.parse('2031-05-01'))
  const folder = await testFolder(t)
  const dataDir = join(folder, 'data')
  await mkdir(join(dataDir, 'objects/recordings'), { recursive: true })
  await mkdir(join(dataDir, 'secrets'), { recursive: true })
  await writeFile(join(dataDir, 'objects/recordings/one.wav'), Buffer.alloc(3_000_000, 7))
  await writeFile(join(dataDir, 'objects/empty'), '')
  await writeFile(join(dataDir, 'secrets/data_key'), 'a-secret\n')
  const options = { databaseUrl: api.databaseUrl, dataDir, searchPath: process.env.PATH, log }
  return { api, ada, agent, call, folder, options }
}

t.test('a running installation is copied to a file and back into an empty one', async (t) => {
  const { api, ada, agent, folder, options } = await furnished(t)
  const file = join(folder, 'backups/today.tar.gz')
  t.match(
    await backup(file, options),
    /^Wrote .*today\.tar\.gz \(\d+\.\d MB, \d+ tables, \d+ rows, 3 files\)\. It holds the secrets/,
  )
  t.equal((await stat(file)).mode & 0o777, 0o600, 'nobody else reads it')
  const before = await contentOf(api.databaseUrl)
  t.ok((before.agents?.length ?? 0) > 0 && (before.calls?.length ?? 0) > 0)
  t.equal((await ada.client.post('/agents', { body: { agent_name: 'Later', system_prompt: 'x' } })).status, 201)

  const target = { ...options, databaseUrl: await emptyDatabase(t), dataDir: join(folder, 'restored') }
  t.match(await restore(file, target), /^Restored/)
  t.same(await contentOf(target.databaseUrl), before, 'every row is back, and nothing that came later')
  t.equal(await readFile(join(target.dataDir, 'secrets/data_key'), 'utf8'), 'a-secret\n')
  t.same(await readFile(join(target.dataDir, 'objects/recordings/one.wav')), Buffer.alloc(3_000_000, 7))
  t.equal((await stat(join(target.dataDir, 'objects/empty'))).size, 0)

  const client = new Client({ connectionString: target.databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  await t.rejects(client.query('update phone_numbers set agent_id = gen_random_uuid()'), 'keys hold again')
  t.equal((await client.query('select from agents where id = $1', [agent.agent_id])).rowCount, 1)

  await t.rejects(restore(file, target), {
    code: 'configuration',
    message: /already has a Patchbay's data; name an empty one/,
  })
})

t.test('a file that is cut off, or none of ours, restores nothing', async (t) => {
  const { folder, options } = await furnished(t)
  const file = join(folder, 'whole.tar.gz')
  await backup(file, options)
  const whole = await readFile(file)
  const target = { ...options, databaseUrl: await emptyDatabase(t), dataDir: join(folder, 'restored') }
  for (const [name, content] of [
    ['half.tar.gz', whole.subarray(0, whole.length / 2)],
    ['text.tar.gz', Buffer.from('hello')],
  ] as const) {
    await writeFile(join(folder, name), content)
    await t.rejects(
      restore(join(folder, name), target),
      { code: 'configuration', message: /is no whole backup of Patchbay/ },
      name,
    )
  }
  await t.rejects(restore(join(folder, 'missing'), target), { message: /there is no such file/ })
  const left = await contentOf(target.databaseUrl)
  for (const table of ['users', 'workspaces', 'agents', 'calls']) t.same(left[table], [], `${table} are still empty`)
  t.match(await restore(file, target), /^Restored/, 'and takes the whole one')
})

t.test('data move to another PostgreSQL and back, once no node runs on it', async (t) => {
  const { api, folder, options } = await furnished(t)
  const before = await contentOf(api.databaseUrl)
  const [there, back] = [await emptyDatabase(t), await emptyDatabase(t)]
  await api.store.pool.query('select')
  await t.rejects(move(there, options), {
    code: 'configuration',
    message: /still runs on this database \(\d+ connections from this machine\).*stop every node/,
  })
  const stopped = { ...options, databaseUrl: await emptyDatabase(t) }
  await backup(join(folder, 'whole.tar.gz'), options)
  await restore(join(folder, 'whole.tar.gz'), { ...stopped, dataDir: join(folder, 'other') })
  t.match(await move(there, stopped), /^Moved \d+ tables/)
  t.same(await contentOf(there), before)
  await move(back, { ...options, databaseUrl: there })
  t.same(await contentOf(back), before)
  await t.rejects(move(there, stopped), { message: /The PostgreSQL of --to already has a Patchbay's data/ })
  await t.rejects(move('postgres://127.0.0.1:1/x', stopped), { message: /The PostgreSQL of --to can't be reached/ })
  await t.rejects(backup('x.tar.gz', { ...options, databaseUrl: await emptyDatabase(t) }), {
    message: /nothing to back up/,
  })
})

t.test('a folder keeps the newest backups, and the database says when the last was made', async (t) => {
  const { api, folder, options } = await furnished(t)
  const backups = join(folder, 'backups')
  await mkdir(backups)
  for (const name of ['patchbay-2031-01-01T00-00-00Z.tar.gz', 'patchbay-2001-01-01T00-00-00Z.tar.gz', 'mine.tar.gz'])
    await writeFile(join(backups, name), '')
  const left = join(backups, 'patchbay-2031-01-01T00-00-00Z.tar.gz.part')
  await writeFile(left, '')
  await utimes(left, new Date(0), new Date(0))
  t.ok((await backupState(api.store)).ageMs < 86_400_000, 'without a backup: the age of the installation')
  await api.store.pool.query(`update migrations set applied_at = applied_at - interval '3 days'`)
  t.ok((await backupState(api.store)).ageMs > 3 * 86_400_000)
  t.match(await backup(backups, { ...options, keep: 2, verify: true }), /Verified .* Removed older ones: patchbay-2001/)
  const names = await readdir(backups)
  t.match(names.sort(), [
    'mine.tar.gz',
    /^patchbay-20\d\d-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz$/,
    'patchbay-2031-01-01T00-00-00Z.tar.gz',
  ])
  t.equal(names.length, 3)
  const state = await backupState(api.store)
  t.ok(state.ageMs < 60_000, `${state.ageMs} ms`)
  t.equal(state.recordingsMissing, 0)
  const { rows } = await api.store.pool.query('select path, size_bytes, rows, verified_at from backups')
  t.equal(rows.length, 1)
  t.match(rows[0], { path: join(backups, names[1] ?? ''), verified_at: Date })
  t.equal(rows[0].size_bytes, (await stat(join(backups, names[1] ?? ''))).size)
})
