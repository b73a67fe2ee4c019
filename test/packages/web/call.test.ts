import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t from 'tap'
import { finishedLog, killVoiceWorker, makeAgent } from '../../../scripts/demo/call.ts'
import type { RestClient, SessionToken } from '../../../scripts/demo/rest.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { buildClient, startBrowser, withoutBrowser } from '../../support/browser.ts'
import { type Instance, startInstance } from '../../support/instance.ts'
import { until } from '../../support/realtime-node.ts'
import type { Teardown } from '../../support/services.ts'

const LIMIT_MS = 150_000
const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'
let instance: Instance

t.before(async () => {
  buildClient()
  instance = await startInstance(t, { PATCHBAY_VOICE_WORKERS: '2' })
})

/** Between the page and the server; what goes through can be cut off. */
async function startProxy(t: Teardown, port: number) {
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((incoming) => {
    if (isCut) return void incoming.destroy()
    const outgoing = connect(port, '127.0.0.1')
    for (const socket of [incoming, outgoing]) {
      sockets.add(socket)
      socket
        .on('error', () => undefined)
        .on('close', () => {
          incoming.destroy()
          outgoing.destroy()
          sockets.delete(socket)
        })
    }
    incoming.pipe(outgoing).pipe(incoming)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  t.teardown(() => {
    cut()
    server.close()
  })
  return { port: (server.address() as { port: number }).port, cut, mend: () => (isCut = false) }
}

const CALL = `
window.told = []
window.loudest = 0
const { PatchbayCall } = await import('/client/v1/patchbay.js')
window.call = new PatchbayCall({
  session: () => ({ realtime_url: URL_OF_SESSION }),
  workletUrl: '/client/v1/worklet.js',
  tools: { show_room: async ({ id }) => ({ title: 'room ' + id + ' with a sea view' }) },
})
for (const name of ['state', 'transcript', 'interrupted', 'ended']) call.on(name, (value) => told.push([name, value]))
call.on('level', ({ side, level }) => {
  if (side === 'agent') loudest = Math.max(loudest, level)
})
await call.start()
`

interface OpenCall {
  rest: RestClient
  callLogId: string
  evaluate<T>(script: string): Promise<T>
  said(role: 'user' | 'assistant', text: RegExp): Promise<void>
}

/** A page of the server that has called the demo's agent, whose microphone says `speech`. */
async function openCall(
  t: Teardown,
  {
    speech,
    port,
    agent = {},
  }: { speech: readonly (string | number)[]; port?: number; agent?: Record<string, unknown> },
): Promise<OpenCall> {
  const { rest, agentId } = await makeAgent(instance.url, {
    ...AGENT,
    first_message: '',
    public: { origins: [] },
    ...agent,
  })
  const browser = await startBrowser(t, { speech })
  const page = await browser.newPage()
  await page.goto(`${instance.url.replace('127.0.0.1', 'localhost')}/talk/${agentId}`)
  const { realtime_url, call_log_id } = await rest.send<SessionToken>(
    'GET',
    `/calls/generate-token?agent_id=${agentId}`,
  )
  const url = new URL(realtime_url)
  if (port !== undefined) url.port = String(port)
  const evaluate = <T>(script: string) => page.evaluate<T>(script)
  await evaluate(`(async () => {${CALL.replace('URL_OF_SESSION', JSON.stringify(url.href))}})()`)
  const said = (role: string, text: RegExp) =>
    until(
      () =>
        evaluate<boolean>(
          `told.some(([name, one]) => name === 'transcript' && one.role === '${role}' && ${text}.test(one.text))`,
        ),
      () => `${role} ${text}`,
      LIMIT_MS,
    )
  return { rest, callLogId: call_log_id, evaluate, said }
}

const logOf = ({ rest, callLogId }: OpenCall) => finishedLog(rest, callLogId, AbortSignal.timeout(LIMIT_MS))

t.test('a connection that is cut for ten seconds is a pause in the call', { skip: withoutBrowser }, async (t) => {
  const proxy = await startProxy(t, Number(new URL(instance.url).port))
  const call = await openCall(t, { speech: [120_000], port: proxy.port })
  proxy.cut()
  await until(() => call.evaluate("call.state === 'reconnecting'"), undefined, LIMIT_MS)
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await new Promise((resolve) => setTimeout(resolve, 10_000))
  proxy.mend()
  await until(() => call.evaluate("call.state === 'connected'"), undefined, LIMIT_MS)
  await call.said('assistant', /three euros/)
  await until(() => call.evaluate('loudest > 0.01'), undefined, LIMIT_MS)
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
  const call = await openCall(t, { speech: [120_000] })
  await call.evaluate(`call.say(${JSON.stringify(QUESTION)})`)
  await call.said('assistant', /family business/)
  await killVoiceWorker(call.rest, call.callLogId, () => undefined, AbortSignal.timeout(LIMIT_MS))
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await call.said('assistant', /three euros/)
  t.equal(await call.evaluate('call.state'), 'connected')
  await call.evaluate('call.end()')
  t.match(await logOf(call), { status: 'completed', end_reason: 'caller_hangup' })
})

t.test('the agent calls a function of the page and says what it returned', { skip: withoutBrowser }, async (t) => {
  const question = 'Show me a room.'
  const tool = { name: 'show_room', arguments: { id: '7' } }
  const call = await openCall(t, {
    speech: [120_000],
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
