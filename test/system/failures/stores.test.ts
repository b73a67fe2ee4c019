import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { mediaWorker } from '../../support/instance/media-worker.ts'
import { RealtimeClient } from '../../support/instance/realtime-node.ts'
import { startRedisPair } from '../../support/instance/redis-pair.ts'
import { testDatabase, testFolder } from '../../support/instance/services.ts'
import { linkWorker, startPhone } from '../../support/phone/phone.ts'
import { freePort } from '../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../support/sip/sip-phone.ts'
import { startFaultProxy } from '../../support/world/fault-proxy.ts'
import { connectAdmin } from '../../support/world/password-role.ts'
import { faultsOfStores, withPasswords } from '../../support/world/store-faults.ts'
import { type FailureRow, missingInDocs } from './failures.ts'
import { type LegUnderTest, sipLeg, webRtcLeg, webSocketLeg } from './legs.ts'

/** How long each fault lasts. */
const FAULT_MS = 4_000
const ASK_EVERY_MS = 200
const LATE_MS = 1_000
/** Two seconds, and what the answer takes on a busy machine. */
const READY_WITHIN_MS = 2_500
const MOST_RECOVERY_MS = 20_000

const INTERRUPTED = /w(?:as|ere) interrupted; reconnecting$/

const webrtc = await mediaWorker()

t.test('what fails is said, costs no call, and is over soon after its end', async (t) => {
  const direct = new URL(await testDatabase(t))
  const database = await startFaultProxy(t, { path: join(direct.searchParams.get('host') ?? '', '.s.PGSQL.5432') })
  const admin = await connectAdmin(direct.href)
  t.teardown(() => admin.end())
  const pair = await startRedisPair(t)
  const said = new Set<string>()
  const log = createLogger({
    level: 'warn',
    name: 'api',
    destination: { write: (line) => void said.add((JSON.parse(line) as { msg: string }).msg) },
  })
  const databaseName = direct.pathname.slice(1)
  const { databaseUrl, redisUrl, passwords } = await withPasswords({
    ...{ database, admin, owner: direct.username, databaseName, redis: pair.proxy, folder: await testFolder(t) },
    async setRedisPassword(password) {
      for (const server of [pair.first, pair.second]) {
        await server.admin('CONFIG', 'SET', 'masterauth', password)
        await server.admin('CONFIG', 'SET', 'requirepass', password)
      }
    },
  })
  const env: Record<string, string> = {}
  if (webrtc.skip === false) {
    const port = String(await freePort())
    Object.assign(env, {
      PATCHBAY_WEBRTC: 'auto',
      PATCHBAY_WEBRTC_WORKER: webrtc.path,
      PATCHBAY_WEBRTC_PORT: port,
    })
  }
  const sip = await startSipApi(t, { databaseUrl, redisUrl, log, env })
  const { api, user } = sip
  await linkWorker(t, api, { capacity: 20 })
  const { agentId } = await startPhone(api, user)
  const askForCall = async (): Promise<string> => {
    const signal = AbortSignal.timeout(8_000)
    const askedMs = performance.now()
    const { status, body } = await user.client
      .get('/calls/generate-token', { query: { agent_id: agentId }, signal })
      .catch((error: Error) => ({ status: 0, body: { detail: error.name } }))
    const isLate = performance.now() - askedMs > LATE_MS
    return status === 200 ? (isLate ? '200 after a wait' : '200') : `${status} ${body?.detail}`
  }
  const begun = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  const page = new RealtimeClient({ url: api.url.replace(/^http/, 'ws') }, begun.body.token)
  await page.got('session.started')
  const readiness = async (): Promise<string[]> => (await api.client().get('/ready')).body.reasons ?? []
  const { number } = await addSipNumber(sip, { host: '127.0.0.1' })
  const legs: LegUnderTest[] = [webSocketLeg(page), await sipLeg(t, sip.sipPort, number)]
  if (webrtc.skip === false) {
    const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    legs.push(await webRtcLeg(t, api.url, body.token))
  } else t.comment(`without a WebRTC leg: ${webrtc.skip}`)
  /** The legs whose callers are not heard, or hear nothing. */
  const silentLegs = async (): Promise<string[]> => {
    const working = await Promise.all(legs.map((leg) => leg.works()))
    return legs.flatMap(({ name }, n) => (working[n] === true ? [] : [name]))
  }
  t.same(await silentLegs(), [], 'all legs work')

  const faults = [
    ...faultsOfStores({
      ...{ database, redis: pair.proxy, databaseName, passwords },
      askPostgres: (statement) => admin.query(statement),
      askRedis: pair.first.admin,
    }),
    {
      ...{ dependency: 'Redis', name: 'fails over, the old server lives on as a replica' },
      begin: () => pair.failOver(),
      end: () => undefined,
      recoversWithinMs: 5_000,
      isTotal: false,
    },
  ]
  const rows: FailureRow[] = []
  for (const { dependency, name, begin, end, recoversWithinMs, isTotal } of faults) {
    const where = `${dependency}, ${name}`
    said.clear()
    const clients = new Set<string>()
    const reasons = new Set<string>()
    await begin()
    const endAtMs = performance.now() + FAULT_MS
    const beganMs = performance.now()
    const during = async (look: () => Promise<unknown>): Promise<void> => {
      while (performance.now() < endAtMs) {
        await look()
        await sleep(ASK_EVERY_MS)
      }
    }
    let saidMs = Number.POSITIVE_INFINITY
    const asking = Promise.all([
      during(async () => clients.add(await askForCall())),
      during(async () => {
        for (const reason of await readiness()) {
          saidMs = Math.min(saidMs, performance.now() - beganMs)
          reasons.add(reason)
        }
      }),
    ])
    const silent = await silentLegs()
    await sleep(Math.max(0, endAtMs - performance.now()))
    await end()
    const endedMs = performance.now()
    let recoveryMs = Number.POSITIVE_INFINITY
    while (performance.now() - endedMs < MOST_RECOVERY_MS) {
      if ((await askForCall()).startsWith('200') && (await readiness()).length === 0) {
        recoveryMs = performance.now() - endedMs
        break
      }
      await sleep(ASK_EVERY_MS)
    }
    await asking
    const logged = [
      ...new Set([...said].map((line) => (INTERRUPTED.test(line) ? 'What listens was interrupted' : line))),
    ]
    t.same(silent, [], `${where}: the calls go on`)
    t.ok(recoveryMs < recoversWithinMs, `${where}: well again after ${Math.round(recoveryMs)} ms`)
    if (isTotal) t.ok(saidMs < READY_WITHIN_MS, `${where}: /ready said so after ${Math.round(saidMs)} ms`)
    for (const answer of clients) t.match(answer, /^(?:200|500|503|0) ?/, `${where}: ${answer}`)
    rows.push({
      ...{ dependency, fault: name, recoveryMs },
      caller: silent.length === 0 ? 'nothing' : `silence: ${silent.join(', ')}`,
      clients: [...clients].map((answer) => (answer.startsWith('0 ') ? 'no answer within 8 s' : answer)).sort(),
      ready: [...reasons].map((reason) => reason.replace(/\(.*\)/, '(…)')).sort(),
      log: logged.sort(),
    })
  }
  const { db } = api.store.tenant(user.workspaceId)
  const running = await db.selectFrom('calls').select('id').where('status', '=', 'in_progress').execute()
  t.equal(running.length, legs.length, 'after all of it the calls are where they were')
  t.ok(running.some(({ id }) => id === begun.body.call_log_id))
  t.same(await missingInDocs('stores', rows), [], 'docs/failures.md has a row for each: UPDATE_FAILURES=1 writes them')
})
