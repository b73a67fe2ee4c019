import { setTimeout as sleep } from 'node:timers/promises'
import { llm } from '@livekit/agents'
import { test } from 'tap'
import { closeInstance, type PluginRegistry } from '../../../../../runtime/plugin/host.ts'
import { collect, errorsOf, ONE_ATTEMPT } from '../../../../conformance/support.ts'
import { foreign } from '../../../../unit/runtime/plugin/isolated/support.ts'

const LIMIT_MS = 60_000
const MOD = `import { definePlugin } from '@patchbay/plugin'
let made = 0
const begin = (host, kind, { sessionId }) => {
  const number = ++made
  return { number, sessionId, dispose() { host.log.info('disposed ' + kind + ' ' + number); if (kind === 'tts') throw new Error('late') } }
}
export default definePlugin({
  llm: (host, options) => {
    const one = begin(host, 'llm', options)
    return { async *chat() { yield { type: 'text', text: 'instance ' + one.number + ' of ' + typeof one.sessionId } }, dispose: one.dispose }
  },
  tts: (host, options) => {
    const one = begin(host, 'tts', options)
    return { sampleRateHz: 16000, async *speak() { yield new Int16Array(160 * one.number) }, dispose: one.dispose }
  },
})
`

async function said(model: Awaited<ReturnType<typeof make>>): Promise<string> {
  const errors = errorsOf(model)
  const chatCtx = llm.ChatContext.empty()
  chatCtx.addMessage({ role: 'user', content: 'Hello.' })
  const chunks = await collect(model.chat({ chatCtx, connOptions: ONE_ATTEMPT }), LIMIT_MS)
  return errors[0]?.error.message ?? chunks.map(({ delta }) => delta?.content ?? '').join('')
}

const make = (registry: PluginRegistry) => registry.create('llm', 'probe')

for (const isolation of ['process', 'none'] as const) {
  test(`what a plugin makes for a call lasts as long as the call (isolation ${isolation})`, async (t) => {
    const plugin = { mod: MOD, provides: { llm: {}, tts: {} } }
    const { registry, logged } = await foreign(t, { plugin, isInstalled: true, settings: { isolation } })
    const [first, second] = [await make(registry), await make(registry)]
    t.equal(await said(first), 'instance 1 of string')
    t.equal(await said(first), 'instance 1 of string', 'one instance for all of its answers')
    t.equal(await said(second), 'instance 2 of string', 'and another for another call')
    await closeInstance(first)
    while (!logged.includes('disposed llm 1')) await sleep(20, undefined, { signal: AbortSignal.timeout(10_000) })
    t.equal(await said(second), 'instance 2 of string')

    const voice = await registry.create('tts', 'probe')
    const lengthOf = async () => {
      const frames = await collect(voice.synthesize('One.', ONE_ATTEMPT), LIMIT_MS)
      return frames.reduce((sum, { frame }) => sum + frame.samplesPerChannel, 0)
    }
    t.equal(await lengthOf(), 480)
    t.equal(await lengthOf(), 480, 'the rate was asked of the same instance')
    await closeInstance(voice)
    while (!logged.includes('disposed tts 3')) await sleep(20, undefined, { signal: AbortSignal.timeout(10_000) })
    t.equal(await said(second), 'instance 2 of string', 'what it throws then harms nobody')
    await closeInstance(second)
  })
}
