import t from 'tap'
import { createLogger } from '../../../runtime/process/log.ts'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { migrate } from '../../../store/database/migrate.ts'
import { MIGRATIONS } from '../../../store/migrations/index.ts'
import { openWebCall } from '../../support/browser/web-call.ts'
import { runMain, startInstance } from '../../support/instance/instance.ts'
import { testDatabase } from '../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const LIMIT_MS = 600_000

t.test(
  'this version starts and serves calls on the database of a newer one, until that takes away what it needs',
  { timeout: LIMIT_MS },
  async (t) => {
    const databaseUrl = await testDatabase(t)
    const env = {
      DATABASE_URL: databaseUrl,
      JWT_API_SECRET: 'a secret of at least 32 characters',
      PATCHBAY_DATA_KEY: 'a data key of at least 32 characters',
    }
    const newer = [
      ...MIGRATIONS,
      { name: '9997-more', sql: 'alter table calls add column later text; create table later (id integer)' },
      { name: '9998-beside', indexes: [{ name: 'calls_later', on: 'calls (later)' }] },
    ]
    await migrate(databaseUrl, log, newer)
    const instance = await startInstance(t, env)
    t.match(instance.output(), /migrated by a newer Patchbay .*9997-more.*9998-beside.*this version runs on it as well/)
    const { rest, agentId } = await makeAgent(instance.url)
    const { session, ended } = await openWebCall(rest, agentId)

    const contracted = [...newer, { name: '9999-less', sql: 'drop table later', needs: '9997-more' }]
    await migrate(databaseUrl, log, contracted)
    session.send({ type: 'end' })
    t.match(await ended, [{ reason: 'caller_hangup' }], 'a running node goes on')
    t.equal(await instance.stop(), 0)

    const { code, stderr } = await runMain(['migrate'], env)
    t.equal(code, 1)
    t.match(
      stderr,
      /of which "9999-less" needs a version that knows "9997-more"; this is \d+\.\d+\.\d+\); update this installation/,
    )
  },
)
