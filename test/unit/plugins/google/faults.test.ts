import t from 'tap'
import { runLlmFaults, runTtsFaults } from '../../../conformance/provider-faults.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { DOUBLE_KEY, startDoubles } from '../../../support/providers/doubles/start.ts'

const { doubles, env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const suite = { faults: doubles.google.faults, key: DOUBLE_KEY, inBand: false }

t.test('the llm of plugin "google" tells faults as what they are', (t) =>
  runLlmFaults(t, { ...suite, make: () => registry.create('llm', 'google') }),
)

t.test('the tts of plugin "google" tells faults as what they are', (t) =>
  runTtsFaults(t, { ...suite, make: () => registry.create('tts', 'google') }),
)
