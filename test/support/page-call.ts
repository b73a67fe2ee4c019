import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { finishedLog, makeAgent } from '../../scripts/demo/call.ts'
import type { RestClient, SessionToken } from '../../scripts/demo/rest.ts'
import { AGENT } from '../../scripts/demo/script.ts'
import { startBrowser } from './browser.ts'
import type { Instance } from './instance.ts'
import { until } from './realtime-node.ts'
import type { Teardown } from './services.ts'

/** As long as anything of a call in a browser may take on a loaded machine. */
export const LIMIT_MS = 150_000

/** Between the page and the server; what goes through can be cut off. */
export async function startProxy(t: Teardown, port: number) {
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
  session: () => (SESSION),
  transport: TRANSPORT,
  workletUrl: '/client/v1/worklet.js',
  tools: { show_room: async ({ id }) => ({ title: 'room ' + id + ' with a sea view' }) },
})
for (const name of ['state', 'transcript', 'interrupted', 'ended']) call.on(name, (value) => told.push([name, value]))
call.on('level', ({ side, level }) => {
  if (side === 'agent') loudest = Math.max(loudest, level)
})
await call.start()
`

export interface OpenCall {
  rest: RestClient
  callLogId: string
  evaluate<T>(script: string): Promise<T>
  said(role: 'user' | 'assistant', text: RegExp): Promise<void>
}

/** A page of the server that has called the demo's agent, whose microphone says `speech`. */
export async function openCall(
  t: Teardown,
  instance: Instance,
  {
    speech,
    port,
    agent = {},
    transport = 'auto',
  }: { speech: readonly (string | number)[]; port?: number; agent?: Record<string, unknown>; transport?: string },
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
  const session = await rest.send<SessionToken & { webrtc: unknown }>(
    'GET',
    `/calls/generate-token?agent_id=${agentId}`,
  )
  const url = new URL(session.realtime_url)
  if (port !== undefined) url.port = String(port)
  const script = CALL.replace('SESSION', JSON.stringify({ realtime_url: url.href, webrtc: session.webrtc })).replace(
    'TRANSPORT',
    JSON.stringify(transport),
  )
  const evaluate = <T>(script: string) => page.evaluate<T>(script)
  await evaluate(`(async () => {${script}})()`)
  const said = (role: string, text: RegExp) =>
    until(
      () =>
        evaluate<boolean>(
          `told.some(([name, one]) => name === 'transcript' && one.role === '${role}' && ${text}.test(one.text))`,
        ),
      () => `${role} ${text}`,
      LIMIT_MS,
    )
  return { rest, callLogId: session.call_log_id, evaluate, said }
}

/** Its call log, once it is over. */
export const logOf = ({ rest, callLogId }: OpenCall) => finishedLog(rest, callLogId, AbortSignal.timeout(LIMIT_MS))
