import t from 'tap'
import { buildClient, withoutBrowser } from '../../../support/browser/browser.ts'
import { logOf, openCall, outliveVoiceWorker } from '../../../support/browser/page-call.ts'
import { type Instance, startInstance } from '../../../support/instance/instance.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const SECOND = 'How much does delivery cost?'
let instance: Instance

t.before(async () => {
  buildClient()
  instance = await startInstance(t, { PATCHBAY_VOICE_WORKERS: '2' })
})

t.test('a connection that is cut for ten seconds is a pause in the call', { skip: withoutBrowser }, async (t) => {
  const proxy = await startFaultProxy(t, { port: Number(new URL(instance.url).port) })
  const call = await openCall(t, instance, { port: proxy.port })
  proxy.cut()
  await call.comes("call.state === 'reconnecting'")
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await proxy.mendAfter(10_000)
  await call.comes("call.state === 'connected'")
  await call.said('assistant', /three euros/)
  await call.heard()
  await call.evaluate('call.end()')
  const log = await logOf(call)
  t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
  t.same(await call.evaluate("told.filter(([name]) => name === 'state').map(([, state]) => state)"), [
    'microphone',
    'connecting',
    'connected',
    'reconnecting',
    'connected',
    'ended',
  ])
})

t.test('a voice worker that dies takes nothing from the call', { skip: withoutBrowser }, async (t) => {
  const call = await openCall(t, instance, {})
  t.match(await outliveVoiceWorker(call), { status: 'completed', end_reason: 'caller_hangup' })
})

t.test('the agent calls a function of the page and says what it returned', { skip: withoutBrowser }, async (t) => {
  const question = 'Show me a room.'
  const tool = { name: 'show_room', arguments: { id: '7' } }
  const call = await openCall(t, instance, {
    agent: {
      LLM_provider: 'sim',
      LLM_model: JSON.stringify({ script: [{ question, answer: 'You see {output}', tool }] }),
      tools: [
        {
          type: 'client',
          name: 'show_room',
          description: 'Shows a room.',
          parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        },
      ],
    },
  })
  await call.evaluate(`call.say(${JSON.stringify(question)})`)
  await call.said('assistant', /room 7 with a sea view/)
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed' })
})
