import { AudioFrame } from '@livekit/rtc-node'
import { pino } from 'pino'
import t from 'tap'
import { processEnvironment } from '../../../../config/load.ts'
import { loadPlugins } from '../../../../runtime/plugin/host.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'
import { runLlmConformance } from '../../../conformance/llm.ts'
import { runSttConformance } from '../../../conformance/stt.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'

const RATE_HZ = 16_000
const TEXT = 'What time do you open on Saturday?'
const FAILING = JSON.stringify({ fault: { kind: 'disconnect' } })

const stop = new AbortController()
t.teardown(() => stop.abort())
endNativeRuntime()
const registry = await loadPlugins({
  config: {},
  env: processEnvironment(),
  log: pino({ level: 'silent' }),
  signal: stop.signal,
})

async function spoken(): Promise<AudioFrame[]> {
  const samples = await renderSpeech(TEXT, RATE_HZ)
  const length = RATE_HZ / 50
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) => {
    const frame = new Int16Array(length)
    frame.set(samples.subarray(i * length, (i + 1) * length))
    return new AudioFrame(frame, RATE_HZ, 1, length)
  })
}

t.test('the stt of plugin "sim" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'sim'),
    makeFailing: () => registry.create('stt', 'sim', { model: FAILING }),
    speech: { frames: await spoken(), text: TEXT },
  }),
)

t.test('the llm of plugin "sim" conforms', (t) =>
  runLlmConformance(t, {
    make: () => registry.create('llm', 'sim'),
    makeFailing: () => registry.create('llm', 'sim', { model: FAILING }),
  }),
)

t.test('the tts of plugin "sim" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'sim'),
    makeFailing: () => registry.create('tts', 'sim', { voice: FAILING }),
  }),
)
