import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import type { CallLog } from '../../../scripts/demo/rest.ts'
import { openWebCall } from '../../support/browser/web-call.ts'
import { runMain, startInstance } from '../../support/instance/instance.ts'
import { testFolder } from '../../support/instance/services.ts'

const LIMIT_MS = 600_000

t.test(
  'an instance is backed up under live calls, which go on, and comes back elsewhere',
  { timeout: LIMIT_MS },
  async (t) => {
    const instance = await startInstance(t)
    const { rest, agentId } = await makeAgent(instance.url)
    const calls = [await openWebCall(rest, agentId), await openWebCall(rest, agentId)]

    const file = join(await testFolder(t), 'backup.tar.gz')
    const written = await runMain(['backup', file], { PATCHBAY_DATA_DIR: instance.dataDir })
    t.equal(written.code, 0, written.stderr)

    for (const { session, told } of calls) {
      const answered = new Promise((resolve) =>
        told.on(
          'transcript',
          ({ role, text }) => role === 'assistant' && /ten in the morning/.test(text) && resolve(text),
        ),
      )
      session.send({ type: 'text', text: 'What time do you open on Saturday?' })
      t.ok(await answered, 'the call goes on')
    }
    for (const { session, ended } of calls) {
      session.send({ type: 'end' })
      await ended
    }
    t.equal(await instance.stop(), 0)

    const dataDir = join(await testFolder(t), 'restored')
    const restored = await runMain(['restore', file], { PATCHBAY_DATA_DIR: dataDir })
    t.equal(restored.code, 0, restored.stderr)
    const again = await startInstance(t, { PATCHBAY_DATA_DIR: dataDir })
    Object.assign(rest, { url: again.url })
    const agents = await rest.send<{ agent_id: string }[]>('GET', '/agents')
    t.ok(
      agents.some(({ agent_id }) => agent_id === agentId),
      'the session of before is still valid, and the agent there',
    )
    for (const { callId } of calls) {
      let log = await rest.send<CallLog>('GET', `/calls/${callId}`)
      for (; log.status === 'in_progress'; log = await rest.send<CallLog>('GET', `/calls/${callId}`)) await sleep(500)
      t.match(log, { status: 'failed', end_reason: 'node_lost' }, 'what ran at the backup is ended by the reaper')
    }
    const next = await openWebCall(rest, agentId)
    next.session.send({ type: 'end' })
    t.match(await next.ended, [{ reason: 'caller_hangup' }])
    t.equal(await again.stop(), 0)
  },
)
