import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { makeCampaign, makeWorkspace, numberAt, startWorld } from '../../../../bench/dialer/world.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { isUnreachable } from '../../../../store/database/database.ts'
import type {
  ProspectFileDetails,
  ProspectFileParams,
  ProspectFileResult,
} from '../../../../store/prospects/prospect-load.ts'
import { uploadById } from '../../../../store/prospects/prospect-uploads.ts'
import { openBulkCopy } from '../../../../store/uploads/bulk-copy.ts'
import { startDialer } from '../../../../workers/dialer/start.ts'
import { testFolder } from '../../../support/instance/services.ts'

const LOADER = new URL('../../../../store/prospects/prospect-load.ts', import.meta.url)
const ROWS = 40_000
const TIMEOUT_MS = 400_000

t.test(
  'an upload during which Postgres dies is refused, or loaded to its last row, and no row of it twice',
  async (t) => {
    const folder = await testFolder(t)
    const world = await startWorld(folder)
    t.teardown(() => world.stop())
    const { store, redis, databaseUrl, rulesFile, pids } = world
    const { tenant, agentId } = await makeWorkspace(world, '+12125550100')
    const campaign = await makeCampaign(tenant, { name: 'Upload', agent_id: agentId, paused: true })
    const kill = async () => {
      const { postgres } = pids
      if (postgres === undefined) throw new Error('There is no Postgres to kill')
      process.kill(postgres, 'SIGKILL')
      const untilMs = performance.now() + TIMEOUT_MS
      for (;;) {
        try {
          if (pids.postgres !== postgres) return void (await store.pool.query('select 1'))
        } catch (error) {
          if (!isUnreachable(error)) throw error
        }
        if (performance.now() > untilMs) throw new Error('Postgres did not come back')
        await sleep(50)
      }
    }
    const retried = async <T>(read: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await read()
        } catch (error) {
          if (!isUnreachable(error)) throw error
          await sleep(100)
        }
      }
    }
    async function* file() {
      yield Buffer.from('primary_phone,first_name\n')
      for (let i = 0; i < ROWS; i += 1_000) {
        yield Buffer.from(Array.from({ length: 1_000 }, (_, n) => `${numberAt(i + n)},Ada\n`).join(''))
      }
    }
    const upload = async (uploadId: string, whileIt: () => Promise<void>) => {
      const { workspaceId } = tenant
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
        ...{ databaseUrl, workspaceId, loader: LOADER, signal },
      })
      try {
        await copy.feed(file())
        const of = { campaignId: campaign.id, listId: campaign.lists[0]?.id ?? '', createdAt: new Date() }
        await copy.commit({ uploadId, workspaceId, ...of }, async () => {
          await whileIt()
          return { filename: 'leads.csv', dedupe: true }
        })
      } finally {
        await copy.discard()
      }
    }

    const broken = uuidv7()
    await t.rejects(upload(broken, kill), 'the sender is told')
    t.equal(await uploadById(tenant, broken), undefined, 'nothing of it is kept')
    const { rows: left } = await store.pool.query('select 1 from prospect_upload_rows limit 1')
    t.same(left, [])

    const whole = uuidv7()
    await upload(whole, async () => {})
    const log = createLogger({ level: 'silent', name: 'jobs' })
    const dialer = await startDialer({
      ...{ store, redis, databaseUrl, clock: systemClock, log, sweepIntervalMs: 100 },
      config: { inboundReserve: 0, workspaceShare: 1, callingRules: rulesFile },
      reloads: { watch: () => () => {} },
    })
    const state = () => retried(() => uploadById(tenant, whole))
    let kills = 0
    const untilMs = performance.now() + TIMEOUT_MS
    for (;;) {
      const now = await state()
      if (now?.status !== 'loading' || performance.now() > untilMs) break
      // After the first batches, and again in the middle.
      if (kills < 2 && now.batches_done > kills * 3) {
        kills++
        await kill()
      }
      await sleep(20)
    }
    await dialer.stop(5_000)
    t.match(await state(), { status: 'completed', loaded: ROWS, duplicates: 0, invalid: 0 })
    t.ok(kills > 0, `${kills} kills while it was loaded`)
    const { rows } = await store.pool.query(
      'select count(*)::int as n, count(distinct phone)::int as numbers from prospects where campaign_id = $1',
      [campaign.id],
    )
    t.same(rows, [{ n: ROWS, numbers: ROWS }])
  },
)
