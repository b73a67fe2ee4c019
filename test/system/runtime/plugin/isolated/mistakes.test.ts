import { setTimeout as sleep } from 'node:timers/promises'
import { llm } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { test } from 'tap'
import type { PluginRegistry } from '../../../../../runtime/plugin/host.ts'
import { collect, errorsOf, ONE_ATTEMPT } from '../../../../conformance/support.ts'
import { foreign } from '../../../../unit/runtime/plugin/isolated/support.ts'

const PATIENCE_MS = 60_000

/** Everyday mistakes of authors, each in the place where a plugin makes it: what its words name. */
const MOD = `import { definePlugin, ProviderError } from '@patchbay/plugin'
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const mistakes = {
  'odd bytes': async function* (good) { yield new Uint8Array(3) },
  'floats': async function* (good) { yield new Float32Array(160) },
  'nothing': async function* (good) { yield null },
  'throws null': async function* (good) { throw null },
  'rejects': async function* (good) { await Promise.reject() },
  'throws text': async function* (good) { throw 'out of order' },
  'circular': async function* (good) { const error = new Error('round'); error.failure = error; throw error },
  'no generator': () => undefined,
  'a promise': async () => 'words',
  'big number': async function* (good) { yield { type: 'text', text: 10n } },
  'no text': async function* (good) { yield { type: 'final', text: 42 } },
  'language': async function* (good) { yield { type: 'final', text: 'hello', language: 42 } },
  'forgotten await': async function* (good) { (async () => { throw new Error('nobody waits') })(); await wait(200); yield* good() },
  'timer': async function* (good) { setTimeout(() => { throw new Error('in a timer') }, 10); await wait(200); yield* good() },
  'message': async function* (good) { const { port1, port2 } = new MessageChannel(); port2.onmessage = () => { throw new Error('in a handler') }; port1.postMessage(1); await wait(200); port2.close(); yield* good() },
  'prints': async function* (good) { process.stdout.write('printed\\n'); console.log('said', { a: 1 }, Object.create(null)); Deno.stdout.writeSync(new TextEncoder().encode('written\\n')); await wait(100); yield* good() },
  'well': async function* (good) { await wait(2500); yield* good() },
}
const words = async function* () { yield { type: 'text', text: 'good' } }
const sound = async function* () { yield new Int16Array(1600) }
export default definePlugin({
  llm: () => ({ chat: ({ messages }) => mistakes[messages.at(-1).content](words) }),
  tts: () => ({ sampleRateHz: 16000, speak: (text) => mistakes[text](sound) }),
  stt: (host, { language }) => ({ sampleRateHz: 16000, recognise: () => mistakes[language]() }),
})
`

async function chat(registry: PluginRegistry, content: string): Promise<string> {
  const model = await registry.create('llm', 'probe')
  const errors = errorsOf(model)
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'user', content })
  const chunks = await collect(model.chat({ chatCtx, connOptions: ONE_ATTEMPT }), PATIENCE_MS)
  return errors[0]?.error.message ?? chunks.map(({ delta }) => delta?.content ?? '').join('')
}

async function speak(registry: PluginRegistry, text: string): Promise<string> {
  const voice = await registry.create('tts', 'probe')
  const errors = errorsOf(voice)
  const sounds = await collect(voice.synthesize(text, ONE_ATTEMPT), PATIENCE_MS)
  return errors[0]?.error.message ?? `${sounds.length > 0 ? 'sound' : 'silence'}`
}

async function listen(registry: PluginRegistry, language: string): Promise<string> {
  const ears = await registry.create('stt', 'probe', { language })
  const errors = errorsOf(ears)
  const stream = ears.stream({ connOptions: ONE_ATTEMPT })
  stream.pushFrame(new AudioFrame(new Int16Array(320), 16_000, 1, 320))
  stream.endInput()
  await collect(stream, PATIENCE_MS)
  return errors[0]?.error.message ?? 'heard'
}

test('one session’s mistake fails that session alone, in words for the plugin’s author', async (t) => {
  const { registry, logged } = await foreign(t, { plugin: { mod: MOD, provides: { llm: {}, tts: {}, stt: {} } } })
  t.equal(await chat(registry, 'well'), 'good')
  const cases: [() => Promise<string>, RegExp][] = [
    [
      () => speak(registry, 'odd bytes'),
      /speak\(\) has to yield 16-bit samples as Int16Array; it yielded a Uint8Array/,
    ],
    [() => speak(registry, 'floats'), /it yielded a Float32Array/],
    [() => speak(registry, 'nothing'), /it yielded null/],
    [() => chat(registry, 'nothing'), /chat\(\) has to yield events such as \{ type, … \}; it yielded null/],
    [() => listen(registry, 'nothing'), /recognise\(\) has to yield events/],
    [() => chat(registry, 'throws null'), /It threw null/],
    [() => speak(registry, 'throws null'), /It threw null/],
    [() => listen(registry, 'throws null'), /It threw null/],
    [() => chat(registry, 'rejects'), /It threw undefined/],
    [() => chat(registry, 'throws text'), /It threw out of order/],
    [() => chat(registry, 'circular'), /^round \(mod\.ts:10\)/],
    [
      () => chat(registry, 'no generator'),
      /chat\(\) has to be an async generator \(async \*chat\); it returned undefined/,
    ],
    [() => speak(registry, 'a promise'), /async \*speak\); it returned a Promise/],
    [() => chat(registry, 'big number'), /a text whose text is a bigint/],
    [() => listen(registry, 'no text'), /a final whose text is a number; it is text/],
    [() => listen(registry, 'language'), /a final whose language is a number; it is text/],
    [() => chat(registry, 'unknown'), /is not a function \(mod\.ts:\d+\)/],
    [() => chat(registry, 'forgotten await'), /^good$/],
    [() => chat(registry, 'timer'), /^good$/],
    [() => chat(registry, 'message'), /^good$/],
    [() => chat(registry, 'prints'), /^good$/],
    [() => speak(registry, 'prints'), /^sound$/],
  ]
  for (const [make, words] of cases) {
    const beside = chat(registry, 'well')
    await sleep(50)
    t.match(await make(), words)
    t.equal(await beside, 'good', `beside ${words}`)
  }
  const lines = logged.join('\n')
  t.notMatch(lines, /The process of plugin/, 'its process never ended')
  for (const line of [
    /An error that the plugin did not handle: nobody waits \(mod\.ts:\d+\)/,
    /An error that the plugin did not handle: in a timer \(mod\.ts:\d+\)/,
    /An error that the plugin did not handle: in a handler \(mod\.ts:\d+\)/,
    /^printed/m,
    /^written/m,
    /^said \{ a: 1 \} \[Object: null prototype\] \{\}/m,
  ]) {
    t.match(lines, line)
  }
})

test('usage that can’t be counted is left out, and the answer stays', async (t) => {
  const mod = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({ llm: () => ({ async *chat({ messages }) {
  yield { type: 'text', text: 'hello' }
  yield { type: 'usage', inputTokens: Number(messages.at(-1).content), outputTokens: 1 }
} }) })
`
  const { registry, logged } = await foreign(t, { plugin: { mod } })
  for (const count of ['1.5', '1e300', '-3', 'NaN']) t.equal(await chat(registry, count), 'hello', count)
  t.equal(logged.filter((line) => /usage whose inputTokens is/.test(line)).length, 4)
})
