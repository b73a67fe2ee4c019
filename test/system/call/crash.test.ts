import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { openWebCall } from '../../support/browser/web-call.ts'
import { startInstance } from '../../support/instance/instance.ts'

/** An error that nobody handles, whenever the process is sent SIGUSR2. */
const PLANTED = `data:text/javascript,process.on('SIGUSR2',()=>{throw new Error('planted')})`
/** Errors this close together would be one request to stop. */
const APART_MS = 700

t.test(
  'a node whose code failed beyond all boundaries lets its calls go on, then ends with a code that says so',
  async (t) => {
    const env = { PATCHBAY_DRAIN_MS: '600000', PATCHBAY_VOICE_WORKERS: '1' }
    const { url, child, output } = await startInstance(t, env, ['--import', PLANTED])
    const ended = once(child, 'close')
    const { rest, agentId } = await makeAgent(url)
    const call = await openWebCall(rest, agentId)
    for (let n = 1; n <= 3; n++) {
      child.kill('SIGUSR2')
      while (output().split('An error nobody handled').length <= n) await sleep(20)
      await sleep(APART_MS)
      t.equal(child.exitCode, null, `the process goes on after error ${n}`)
      const pong = once(call.told, 'pong')
      call.session.send({ type: 'ping' })
      await pong
    }
    t.match(output(), /After an error: Stopping: a call is running and may go on for 1 min/)
    call.session.send({ type: 'end' })
    await call.ended
    t.same(await ended, [1, null])
    t.match(output(), /Stopped/)
  },
)
