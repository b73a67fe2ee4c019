import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Test, test } from 'tap'
import { RealtimeLlm } from '../../../../../runtime/conversation/realtime/realtime-llm.ts'
import { foreign } from '../../plugin/isolated/support.ts'
import { call } from '../support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from '../support/providers.ts'

/** A model of somebody's plugin whose sessions are at this address. */
const mod = (url: string) => `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({
  realtime: () => ({
    capabilities: { inputRateHz: 16000, outputRateHz: 16000, speaks: true, edits: true, maxSessionMs: 60000 },
    session: () => ({ url: ${JSON.stringify(url)}, headers: {}, hello: ['{}'], parse: () => [], serialise: () => [] }),
  }),
})
`

/** A server that nobody may connect to, and how often somebody did. */
async function forbiddenServer(t: Test): Promise<{ port: number; connections: () => number }> {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { port: (server.address() as { port: number }).port, connections: () => connections }
}

const ADDRESSES: Readonly<Record<string, (port: number) => string>> = {
  'another port of a server that was granted': (port) => `ws://127.0.0.1:${port}/`,
  'another name of it': (port) => `ws://localhost:${port}/`,
  'another spelling of it': (port) => `ws://2130706433:${port}/`,
  'the same in IPv6': (port) => `ws://[::ffff:127.0.0.1]:${port}/`,
}

for (const [what, urlOf] of Object.entries(ADDRESSES)) {
  test(`a speech-to-speech session at ${what} is refused by name, and the pipeline answers`, async (t) => {
    const { port, connections } = await forbiddenServer(t)
    const net = ['127.0.0.1:9']
    const { registry } = await foreign(t, {
      plugin: { mod: mod(urlOf(port)), provides: { realtime: { models: ['voice-1'] } }, permissions: { net } },
      settings: { grant: { net } },
    })
    const provider = await registry.create('realtime', 'probe', { model: 'voice-1' })
    const model = new RealtimeLlm({
      ...{ provider, name: 'probe', model: 'voice-1', identity: { title: 'Probe' } },
      config: { instructions: '', tools: [] },
    })
    const {
      port: told,
      type,
      hangUp,
    } = await call({
      providers: {
        stt: new ScriptedStt({ utterances: [] }),
        llm: [model, new ScriptedLlm(() => 'At the pier.')],
        tts: new ToneTts(),
      },
      agent: { firstMessage: '' },
    })
    t.teardown(hangUp)
    type('Where is the shop?')
    await told.until('the pipeline answers', () => told.said.includes('assistant: At the pier.'))
    t.match(told.faults[0], /probe.*net|net.*probe/i)
    t.match(told.faults[0], String(port))
    t.equal(connections(), 0)
  })
}
