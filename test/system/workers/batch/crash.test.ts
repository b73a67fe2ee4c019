import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import type { BatchDetails, BatchLoadParams, BatchLoadResult } from '../../../../store/batches/batch-load.ts'
import { batchById, batchItems, sendBatch } from '../../../../store/batches/batches.ts'
import { openStore } from '../../../../store/database/database.ts'
import { openBulkCopy } from '../../../../store/uploads/bulk-copy.ts'
import { testDatabase, testFolder, testRedis } from '../../../support/instance/services.ts'

const NUMBERS = 100
const KILLS = 6
const FINISH_TIMEOUT_MS = 400_000

t.test('a batch whose processes are killed again and again calls nobody twice, misses nobody and ends', async (t) => {
  const [databaseUrl, redisUrl, folder] = await Promise.all([testDatabase(t), testRedis(t), testFolder(t)])
  const store = openStore({ databaseUrl, maxConnections: 2 })
  t.teardown(() => store.close())
  const ledger = join(folder, 'ledger')
  const [workspaceId, agentId, batchId] = [uuidv7(), uuidv7(), uuidv7()]
  const tenant = store.tenant(workspaceId)
  await store.global
    .insertInto('workspaces')
    .values({ id: workspaceId, name: 'w', type: 'test', slug: workspaceId, deleted_at: null })
    .execute()
  const speech = {
    llm_provider: 'offline',
    llm_model: 'm',
    stt_provider: 'sim',
    stt_model: 'm',
    tts_provider: 'sim',
    tts_voice: 'v',
  }
  const agent = { id: agentId, agent_name: 'Ada', temperature: 0, system_prompt: 'p', first_message: 'f', ...speech }
  await tenant.db.insertInto('agents').values(agent).execute()
  const number = { phone_number: '+14155550100', agent_id: agentId, provider: 'ledger', trunk: null }
  await tenant.db.insertInto('phone_numbers').values(number).execute()
  const numbers = Array.from({ length: NUMBERS }, (_, i) => `+1415555${2000 + i}`)
  const copy = await openBulkCopy<BatchLoadParams, BatchDetails, BatchLoadResult>({
    databaseUrl,
    workspaceId,
    loader: new URL('../../../../store/batches/batch-load.ts', import.meta.url),
    signal: AbortSignal.timeout(60_000),
  })
  await copy.feed(
    (async function* () {
      yield Buffer.from(`phone_number\n${numbers.join('\n')}\n`)
    })(),
  )
  await copy.commit(
    { batchId, workspaceId },
    {
      name: 'b',
      agentId,
      agentPhoneNumber: number.phone_number,
      status: 'pending',
      scheduledTime: null,
      timezone: 'UTC',
    },
  )
  await copy.discard()
  t.ok(await sendBatch(tenant, batchId, new Date()))

  const start = async () => {
    const program = new URL('../../../support/phone/phone-process.ts', import.meta.url)
    const child = fork(program, [databaseUrl, redisUrl, folder], { env: { ...process.env, TEST_LEDGER: ledger } })
    t.teardown(() => child.kill('SIGKILL'))
    const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The process ended early: ${code}`)))
    died.catch(() => {})
    await Promise.race([once(child, 'message'), died])
    return child
  }
  for (let kill = 0; kill < KILLS; kill++) {
    const child = await start()
    await sleep(400 + kill * 170)
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await start()
  const untilMs = performance.now() + FINISH_TIMEOUT_MS
  while ((await batchById(tenant, batchId))?.status !== 'completed' && performance.now() < untilMs) await sleep(100)

  const batch = await batchById(tenant, batchId)
  t.match(batch, { status: 'completed', total: NUMBERS, failed: NUMBERS, in_progress: 0 })
  const dialled = readFileSync(ledger, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ')[0])
  t.equal(new Set(dialled).size, dialled.length, 'nobody was called twice')
  const items = await batchItems(tenant, batch!, 0, NUMBERS)
  const lost = items.filter(({ error }) => error !== 'busy')
  t.comment(`${dialled.length} numbers were dialled, ${lost.length} calls were lost with their process`)
  t.ok(
    lost.every(({ error }) => error?.startsWith('The server that held the call was lost')),
    'every row says what became of its call',
  )
  t.ok(dialled.length > NUMBERS - KILLS * 10 && dialled.length <= NUMBERS, 'those not dialled were in a dying hand')
})
