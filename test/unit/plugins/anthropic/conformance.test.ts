import t from 'tap'
import { runLlmConformance } from '../../../conformance/llm.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, ANTHROPIC_BASE_URL: await deserted() })

for (const model of ['claude-haiku-4-5', 'claude-sonnet-5']) {
  t.test(`the llm of plugin "anthropic" conforms with ${model}`, (t) =>
    runLlmConformance(t, {
      make: () => registry.create('llm', 'anthropic', { model, temperature: 0.7 }),
      makeFailing: () => unreachable.create('llm', 'anthropic', { model }),
    }),
  )
}
