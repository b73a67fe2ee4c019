import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test, test } from 'tap'
import type { PluginRegistry } from '../../../../runtime/plugin/host.ts'
import { findFailure } from '../../../../runtime/plugin-sdk/provider-error.ts'
import { runSttConformance } from '../../../conformance/stt.ts'
import { collect, errorsOf, ONE_ATTEMPT } from '../../../conformance/support.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'
import { npmPackages } from '../../../support/providers/npm-packages.ts'
import { foreign } from '../../../unit/runtime/plugin/isolated/support.ts'

const VOICE = 'f786b574-daa5-4673-aa0c-cbe3e8534c02'
const TEXT = 'What time do you open on Saturday?'

/** What an author writes for each: five lines. */
const PLUGINS = {
  rime: `import { TTS } from '@livekit/agents-plugin-rime'
import { fromLiveKit } from '@patchbay/plugin/livekit'
export default fromLiveKit({
  tts: (host, { voice = 'luna' }) => new TTS({ apiKey: host.env.get('KEY'), baseURL: host.env.get('URL'), speaker: voice }),
})
`,
  cartesia: `import { TTS } from '@livekit/agents-plugin-cartesia'
import { fromLiveKit } from '@patchbay/plugin/livekit'
export default fromLiveKit({
  tts: (host, { voice }) => new TTS({ apiKey: host.env.get('KEY'), baseUrl: host.env.get('URL'), ...(voice && { voice }) }),
})
`,
  deepgram: `import { STT } from '@livekit/agents-plugin-deepgram'
import { fromLiveKit } from '@patchbay/plugin/livekit'
export default fromLiveKit({
  stt: (host) => new STT({ apiKey: host.env.get('KEY'), baseUrl: host.env.get('URL').replace(/^http/, 'ws') }),
})
`,
} as const

const PROVIDES = {
  rime: { tts: { voices: ['luna', 'ana'] } },
  cartesia: { tts: { voices: [VOICE] } },
  deepgram: { stt: { models: ['nova-3'] } },
}

const { doubles, stop } = await startDoubles()
endNativeRuntime()

/** Rime's `/v1/rime-tts` as @livekit/agents-plugin-rime 1.0.10 asks for it: raw 16-bit samples of 24 kHz. */
async function startRime(t: Test): Promise<string> {
  const server = createServer(async (request, response) => {
    const { speaker, text: said } = JSON.parse(await text(request)) as { speaker: string; text: string }
    if (request.headers.authorization !== `Bearer ${DOUBLE_KEY}`) response.writeHead(401).end('{}')
    else if (speaker !== 'luna' && speaker !== 'ana') response.writeHead(400).end('{}')
    else {
      const samples = Int16Array.from({ length: 1_000 + said.length * 1_200 }, (_, n) => 8_000 * Math.sin(n / 20))
      response.writeHead(200, { 'content-type': 'audio/pcm' }).end(Buffer.from(samples.buffer))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

async function plugin(
  t: Test,
  name: keyof typeof PLUGINS,
  url: string,
  key = DOUBLE_KEY,
): Promise<{ registry: PluginRegistry; logged: string[] }> {
  const address = url.replace('127.0.0.1', 'localhost')
  return foreign(t, {
    plugin: {
      mod: PLUGINS[name],
      provides: PROVIDES[name],
      permissions: { env: ['KEY', 'URL'] },
      packages: await npmPackages('livekit'),
    },
    env: { KEY: key, URL: address },
    settings: { grant: { env: ['KEY', 'URL'], net: [new URL(address).host] } },
  })
}

for (const name of ['rime', 'cartesia'] as const) {
  test(`the voice of @livekit/agents-plugin-${name} conforms in the sandbox, and fails in words`, async (t) => {
    const url = name === 'rime' ? await startRime(t) : doubles.cartesia.url
    const { registry } = await plugin(t, name, url)
    const { registry: unreachable } = await plugin(t, name, await deserted())
    await runTtsConformance(t, {
      make: () => registry.create('tts', 'probe'),
      makeFailing: () => unreachable.create('tts', 'probe'),
    })
    const refused = await (await plugin(t, name, url, 'bad')).registry.create('tts', 'probe')
    const errors = errorsOf(refused)
    await collect(refused.synthesize('Hello.', ONE_ATTEMPT))
    t.match(findFailure(errors[0]?.error), { fault: 'authentication', status: 401, retryable: false })
  })
}

test('the recogniser of @livekit/agents-plugin-deepgram conforms in the sandbox, and fails in words', async (t) => {
  const { registry } = await plugin(t, 'deepgram', doubles.deepgram.url)
  const { registry: unreachable } = await plugin(t, 'deepgram', await deserted())
  await runSttConformance(t, {
    make: () => registry.create('stt', 'probe'),
    makeFailing: () => unreachable.create('stt', 'probe'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  })
  const refused = await (await plugin(t, 'deepgram', doubles.deepgram.url, 'bad')).registry.create('stt', 'probe')
  const errors = errorsOf(refused)
  const stream = refused.stream({ connOptions: ONE_ATTEMPT })
  for (const frame of await spokenFrames(TEXT)) stream.pushFrame(frame)
  stream.endInput()
  await collect(stream)
  t.match(findFailure(errors[0]?.error), { fault: 'authentication', status: 401, retryable: false })
})

t.teardown(stop)
