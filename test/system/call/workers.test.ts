import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { finishedLog, makeAgent, runDemo } from '../../../scripts/demo/call.ts'
import { openRealtime } from '../../../scripts/demo/realtime.ts'
import type { SessionToken } from '../../../scripts/demo/rest.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'

const LIMIT_MS = 300_000

t.test('a voice worker is killed in the middle of a call: another goes on with what was said', async (t) => {
  const instance = await startInstance(t, { PATCHBAY_VOICE_WORKERS: '2' })
  hurry()
  const signal = AbortSignal.timeout(LIMIT_MS)
  const { faults, log } = await runDemo(instance.url, { killWorker: true, say: () => {}, signal })
  t.same(faults, [])
  t.equal(log.end_reason, 'caller_hangup')
  await instance.stop()
})

t.test('without a voice worker a session ends for want of capacity, and the call log says so', async (t) => {
  const instance = await startInstance(t, { PATCHBAY_VOICE_WORKERS: '0', PATCHBAY_QUEUE_WAIT_MS: '500' })
  const signal = AbortSignal.timeout(LIMIT_MS)
  const { rest, agentId } = await makeAgent(instance.url)
  const token = await rest.send<SessionToken>('GET', `/calls/generate-token?agent_id=${agentId}`)
  const url = new URL(token.realtime_url)
  url.host = new URL(instance.url).host
  const told = new EventEmitter()
  const ended = once(told, 'session.ended', { signal })
  await openRealtime(url.href, {
    message: (message) => void told.emit(message.type, message),
    audio: () => {},
    closed: () => {},
  })
  t.match(await ended, [{ reason: 'no_capacity' }])
  const log = await finishedLog(rest, token.call_log_id, signal)
  t.match(log, { status: 'failed', end_reason: 'no_capacity', transcript: [] })
  await instance.stop()
})
