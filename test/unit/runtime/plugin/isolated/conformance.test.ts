import { AudioFrame } from '@livekit/rtc-node'
import t from 'tap'
import { runLlmConformance } from '../../../../conformance/llm.ts'
import { runSttConformance } from '../../../../conformance/stt.ts'
import { runTtsConformance } from '../../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../../support/instance/native-runtime.ts'
import { foreign } from './support.ts'

const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50

/** A second of a tone. */
function tone(): AudioFrame[] {
  return Array.from({ length: 50 }, (_, frame) => {
    const samples = Int16Array.from({ length: FRAME }, (_, n) =>
      Math.round(6_000 * Math.sin((2 * Math.PI * 440 * (frame * FRAME + n)) / RATE_HZ)),
    )
    return new AudioFrame(samples, RATE_HZ, 1, FRAME)
  })
}

endNativeRuntime()

t.test('a foreign plugin conforms as one of our own does', async (t) => {
  const { registry } = await foreign(t, { plugin: 'parrot', settings: { grant: { env: ['PARROT_URL'] } } })
  const broken = await foreign(t, {
    plugin: {
      mod: `import { definePlugin, ProviderError } from '@patchbay/plugin'
const fail = () => { throw new ProviderError('Probe could not be reached', { fault: 'transient' }) }
  export default definePlugin({
    stt: () => ({ sampleRateHz: 16000, async *recognise() { fail() } }),
    tts: () => ({ sampleRateHz: 16000, async *speak() { fail() } }),
    llm: () => ({ async *chat() { fail() } }),
  })
  `,
      provides: { stt: { models: ['m'] }, tts: { voices: ['v'] }, llm: { models: ['m'] } },
    },
  })

  await t.test('a foreign language model conforms', (t) =>
    runLlmConformance(t, {
      make: () => registry.create('llm', 'parrot'),
      makeFailing: () => broken.registry.create('llm', 'probe'),
    }),
  )

  await t.test('a foreign recogniser conforms', (t) =>
    runSttConformance(t, {
      make: () => registry.create('stt', 'parrot'),
      makeFailing: () => broken.registry.create('stt', 'probe'),
      speech: { frames: tone(), text: 'heard 10 tenths' },
    }),
  )

  await t.test('a foreign voice conforms', (t) =>
    runTtsConformance(t, {
      make: () => registry.create('tts', 'parrot'),
      makeFailing: () => broken.registry.create('tts', 'probe'),
    }),
  )
})
