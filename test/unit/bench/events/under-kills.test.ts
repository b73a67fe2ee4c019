import t from 'tap'
import { deliverUnderKills } from '../../../../bench/events/under-kills.ts'
import { testDatabase, testFolder, testRedis } from '../../../support/instance/services.ts'

t.test('every event that was committed comes to its webhook, whoever is killed meanwhile', async (t) => {
  const [databaseUrl, redisUrl, dataDir] = await Promise.all([testDatabase(t), testRedis(t), testFolder(t)])
  // The api, and the job worker twice.
  const victims = [0, 0.9, 0.9]
  let asked = 0
  const figures = await deliverUnderKills({
    env: {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      PATCHBAY_DATA_DIR: dataDir,
      PATCHBAY_LOG_LEVEL: 'fatal',
      PATCHBAY_DATA_KEY: 'a key of this test, thirty-two long....',
      JWT_API_SECRET: 'a secret of this test, thirty-two long.',
      PATCHBAY_LINK_TOKEN: 'a link token of this test',
    },
    kills: victims.length,
    mostMs: 600_000,
    // Asked for a time, and then for who.
    random: () => (asked++ % 2 === 0 ? 0.5 : victims[(asked >> 1) - 1]!),
  })
  t.same(figures.kills, { api: 1, jobs: 2 })
  t.ok(figures.committed > 0)
  t.equal(figures.missing, 0, `of ${figures.committed}`)
  t.equal(figures.untrue, 0)
})
