import t from 'tap'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { defaultProviders } from '../../../../runtime/plugin/default-providers.ts'
import { describeDefaults } from '../../../../runtime/plugin/describe-defaults.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'

const named = (providers: ReturnType<typeof defaultProviders>) =>
  Object.values(providers).map(({ provider }) => provider)

t.test('without any key agents get what needs none, and the start says what that means', async (t) => {
  const registry = await registryWith(t, {})
  const providers = defaultProviders(registry, {})
  t.same(named(providers), ['offline', 'sim', 'offline'])
  const [sentence = '', notice] = describeDefaults(registry, providers)
  t.equal(
    sentence,
    'New agents think with offline (no key is set), listen with Sim (no key is set) and speak with offline (no key is set)',
  )
  t.match(notice, /understands/)
})

t.test('a key that is set makes its provider the default of what it does', async (t) => {
  const registry = await registryWith(t, { DEEPGRAM_API_KEY: 'k' })
  t.same(named(defaultProviders(registry, {})), ['offline', 'deepgram', 'deepgram'])
  const both = await registryWith(t, { DEEPGRAM_API_KEY: 'k', CARTESIA_API_KEY: 'k', OPENAI_API_KEY: 'k' })
  const providers = defaultProviders(both, {})
  t.same(named(providers), ['openai', 'deepgram', 'cartesia'], 'each for what it is best at')
  t.equal(providers.llm.reason, 'key')
  t.match(describeDefaults(both, providers)[0], 'think with OpenAI (its key is set)')
})

t.test('a server of other models is nobody’s default by itself', async (t) => {
  const ollama = await registryWith(t, { OPENAI_BASE_URL: 'http://localhost:11434/v1', OPENAI_API_KEY: 'none' })
  t.same(named(defaultProviders(ollama, {})), ['offline', 'sim', 'offline'])
  const own = await registryWith(t, { DEEPGRAM_BASE_URL: 'http://localhost:8080', DEEPGRAM_API_KEY: 'k' })
  t.equal(defaultProviders(own, {}).stt.provider, 'deepgram', 'Deepgram on one’s own machine is Deepgram')
})

t.test('the operator’s word counts, and a provider nobody has stops the start', async (t) => {
  const registry = await registryWith(t, { OPENAI_API_KEY: 'k' })
  const { llm } = defaultProviders(registry, { defaultLlm: 'sim' })
  t.same(llm, { provider: 'sim', reason: 'setting' })
  const failure = (() => {
    try {
      return defaultProviders(registry, { defaultTts: 'opnai' })
    } catch (error) {
      return error
    }
  })()
  t.ok(failure instanceof PatchbayError && failure.code === 'configuration')
  t.match(failure, { message: /PATCHBAY_DEFAULT_TTS names "opnai", which provides no tts; did you mean "openai"\?/ })
})
