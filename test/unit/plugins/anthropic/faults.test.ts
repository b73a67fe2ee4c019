import t from 'tap'
import { runLlmFaults } from '../../../conformance/provider-faults.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
const registry = await registryWith(t, env)
const suite = { faults: doubles.anthropic.faults, key: DOUBLE_KEY, inBand: false }

t.test('the llm of plugin "anthropic" tells faults as what they are', (t) =>
  runLlmFaults(t, { ...suite, make: () => registry.create('llm', 'anthropic') }),
)
