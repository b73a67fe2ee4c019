import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import type { ObjectStore } from '../../../../runtime/plugin/contract.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { RecordingSpool, type SpooledCall } from '../../../../runtime/recording/spool.ts'
import { wavHead } from '../../../../runtime/recording/wav.ts'
import { openStore } from '../../../../store/database/database.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { recordingKey, startRecordings } from '../../../../workers/recordings/start.ts'
import { testDatabase, testFolder, testRedis } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 4 })
t.teardown(() => store.close())
const redis = await createRedis(await testRedis(t), log)
t.teardown(() => redis.destroy())
const SOUND = Buffer.concat([wavHead(8_000, 0), Buffer.alloc(400, 1)])

/** An object store in memory that fails as often as it is told. */
function memory() {
  const objects = new Map<string, Buffer>()
  const told = { failures: 0, puts: 0, holding: undefined as Promise<void> | undefined }
  const kept: ObjectStore = {
    async put(key, source) {
      told.puts++
      await told.holding
      if (told.failures-- > 0) throw new Error('the store is away')
      objects.set(key, Buffer.from(await source.bytes(0, source.size)))
    },
    get: async () => undefined,
    url: async () => undefined,
    remove: async (key) => void objects.delete(key),
  }
  return { objects, told, kept }
}

async function makeCall(status: 'completed' | 'in_progress'): Promise<SpooledCall> {
  const call = { workspaceId: uuidv7(), callId: uuidv7() }
  await store.global
    .insertInto('workspaces')
    .values({ id: call.workspaceId, name: 'w', type: 'test', slug: call.workspaceId, deleted_at: null })
    .execute()
  await store
    .tenant(call.workspaceId)
    .db.insertInto('calls')
    .values({ id: call.callId, agent_id: uuidv7(), agent_name: 'A', call_type: 'web', direction: 'inbound', status })
    .execute()
  return call
}

const keyOf = async ({ workspaceId, callId }: SpooledCall) =>
  (
    await store
      .tenant(workspaceId)
      .db.selectFrom('calls')
      .select('recording_key')
      .where('id', '=', callId)
      .executeTakeFirstOrThrow()
  ).recording_key

async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + 120_000; !(await check()); await sleep(20)) {
    if (performance.now() > end) throw new Error(`Waited too long for ${what}`)
  }
}

async function start(dir: string, objects: ObjectStore) {
  const spool = await RecordingSpool.open({
    dir,
    nowMs: () => performance.now(),
    log,
    finished: (call) => uploads.queue(call),
  })
  const uploads = startRecordings({ store, redis, objects, spool, log, sweepIntervalMs: 100, abandonedAfterMs: 0 })
  return { spool, uploads }
}

const put = (dir: string, { workspaceId, callId }: SpooledCall, kind: 'wav' | 'part') =>
  writeFile(join(dir, `${workspaceId}.${callId}.${kind}`), SOUND)
const waiting = async (dir: string) => (await readdir(dir)).filter((name) => name !== 'id')

t.test('what a dead process left is stored by the next, finished or not, once its call is over', async (t) => {
  const dir = await testFolder(t)
  const [whole, cut, live] = [await makeCall('completed'), await makeCall('completed'), await makeCall('in_progress')]
  await put(dir, whole, 'wav')
  await put(dir, cut, 'part')
  await put(dir, live, 'part')
  const { objects, kept } = memory()
  const { uploads } = await start(dir, kept)
  t.teardown(() => uploads.stop(1000))
  await until('both', async () => (await keyOf(whole)) !== null && (await keyOf(cut)) !== null)
  t.equal(objects.get(recordingKey(cut))?.readUInt32LE(40), 400, 'its head says how much there is')
  t.equal(await keyOf(live), null, 'the call of a living process is left alone')
  await until('the spool', async () => (await waiting(dir)).length === 1)
  await store.acrossTenants.updateTable('calls').set({ status: 'failed' }).where('id', '=', live.callId).execute()
  await until('the third', async () => (await keyOf(live)) === recordingKey(live))
})

t.test('a store that is away is asked again, and the file stays as long', async (t) => {
  const dir = await testFolder(t)
  const call = await makeCall('completed')
  await put(dir, call, 'wav')
  const { told, kept } = memory()
  told.failures = Number.POSITIVE_INFINITY
  const { uploads } = await start(dir, kept)
  t.teardown(() => uploads.stop(1000))
  await until('a failure', () => told.puts > 0)
  t.equal((await waiting(dir)).length, 1)
  t.equal(await keyOf(call), null)
  told.failures = 0
  await until('the recording', async () => (await keyOf(call)) !== null)
  t.ok(told.puts > 1)
})

t.test('a recording whose workspace is deleted is not kept, even when that happens in the middle', async (t) => {
  const dir = await testFolder(t)
  const [before, during] = [await makeCall('completed'), await makeCall('completed')]
  const remove = ({ workspaceId }: SpooledCall) =>
    store.global.updateTable('workspaces').set({ deleted_at: new Date() }).where('id', '=', workspaceId).execute()
  const { objects, told, kept } = memory()
  await remove(before)
  await put(dir, before, 'wav')
  const { uploads } = await start(dir, kept)
  t.teardown(() => uploads.stop(1000))
  await until('the spool', async () => (await waiting(dir)).length === 0)
  t.equal(told.puts, 0)
  const hold = Promise.withResolvers<void>()
  told.holding = hold.promise
  await put(dir, during, 'wav')
  await until('the upload', () => told.puts === 1)
  await remove(during)
  hold.resolve()
  await until('the spool', async () => (await waiting(dir)).length === 0)
  t.equal(objects.size, 0)
  t.equal(await keyOf(during), null)
})
