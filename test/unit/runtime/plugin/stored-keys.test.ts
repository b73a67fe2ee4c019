import t from 'tap'
import { registryWith } from '../../../support/providers/doubles/registry.ts'

t.test('stored keys fill what the environment leaves open, and nothing else', async (t) => {
  const { keys, missingKey, plugins } = await registryWith(t, { DEEPGRAM_API_KEY: 'given', OPENAI_API_KEY: '' })
  const changes: (readonly string[])[] = []
  keys.watch((providers) => changes.push(providers))
  const setFor = (provider: string, variable: string) => plugins.find(({ name }) => name === provider)?.env[variable]
  keys.use({
    openai: { OPENAI_API_KEY: 'stored', PATH: '/tmp', OPENAI_BASE_URL: 'http://elsewhere' },
    deepgram: { DEEPGRAM_API_KEY: 'stored' },
    s3: { S3_SECRET_ACCESS_KEY: 'stored' },
    nobody: { KEY: 'stored' },
  })
  t.same(changes, [['deepgram', 'openai']])
  t.equal(setFor('openai', 'OPENAI_API_KEY'), 'stored', 'an empty variable counts as unset')
  t.equal(setFor('openai', 'OPENAI_BASE_URL'), undefined, 'a stored key moves no provider to another server')
  t.not(setFor('openai', 'PATH'), '/tmp')
  t.equal(setFor('deepgram', 'DEEPGRAM_API_KEY'), 'given')
  t.equal(setFor('deepgram', 'OPENAI_API_KEY'), '', 'a key is its own provider’s alone')
  t.same(keys.variablesOf('s3'), [], 'what is made once at the start takes no key later')
  t.equal(missingKey('openai'), undefined)

  keys.use({})
  t.same(changes.length, 2)
  t.match(missingKey('openai'), /OPENAI_API_KEY is not set/)
  t.equal(missingKey('deepgram'), undefined)
  keys.use({})
  t.same(changes.length, 2, 'what stays the same is no change')
})

t.test('a key that is half set says what is missing', async (t) => {
  const { keys, missingKey } = await registryWith(t, {})
  t.same(keys.variablesOf('azure'), ['AZURE_SPEECH_KEY', 'AZURE_SPEECH_REGION'])
  keys.use({ azure: { AZURE_SPEECH_KEY: 'stored' } })
  t.match(missingKey('azure'), /AZURE_SPEECH_REGION is not set/)
  keys.use({ azure: { AZURE_SPEECH_KEY: 'stored', AZURE_SPEECH_REGION: 'westeurope' } })
  t.equal(missingKey('azure'), undefined)
})

t.test('the guard lets through what a stored key sets up', async (t) => {
  const { keys, ambientGrants } = await registryWith(t, {})
  const hosts = () => ambientGrants(['llm']).flatMap(({ net }) => net.map((rule) => JSON.stringify(rule)))
  t.notOk(hosts().some((rule) => rule.includes('api.anthropic.com')))
  keys.use({ anthropic: { ANTHROPIC_API_KEY: 'stored' } })
  t.ok(hosts().some((rule) => rule.includes('api.anthropic.com')))
})
