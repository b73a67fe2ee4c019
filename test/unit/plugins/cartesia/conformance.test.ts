import t from 'tap'
import { runSttConformance } from '../../../conformance/stt.ts'
import { ONE_ATTEMPT, withInstance } from '../../../conformance/support.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { deserted, registryWith, spokenFrames } from '../../../support/providers/doubles/registry.ts'
import { startDoubles } from '../../../support/providers/doubles/start.ts'

const TEXT = 'What time do you open on Saturday?'

const { env, stop } = await startDoubles()
t.teardown(stop)
endNativeRuntime()
const registry = await registryWith(t, env)
const unreachable = await registryWith(t, { ...env, CARTESIA_BASE_URL: await deserted() })

t.test('the stt of plugin "cartesia" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'cartesia'),
    makeFailing: () => unreachable.create('stt', 'cartesia'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "cartesia" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'cartesia'),
    makeFailing: () => unreachable.create('tts', 'cartesia'),
  }),
)

t.test('ink-whisper, which tells no turns, conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'cartesia', { model: 'ink-whisper', language: 'en' }),
    makeFailing: () => unreachable.create('stt', 'cartesia', { model: 'ink-whisper' }),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('words come with their places in the audio, over more than one utterance', async (t) => {
  await withInstance(
    () => registry.create('tts', 'cartesia'),
    async (engine) => {
      t.equal(engine.capabilities.alignedTranscript, true)
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText('We are open.')
      stream.flush()
      stream.pushText('Come in.')
      stream.endInput()
      let audioS = 0
      const words: { text: string; startTime: number }[] = []
      for await (const piece of stream) {
        if (typeof piece === 'symbol') continue
        audioS += piece.frame.samplesPerChannel / piece.frame.sampleRate
        for (const { text, startTime } of piece.timedTranscripts ?? [])
          words.push({ text, startTime: Number(startTime) })
      }
      t.same(
        words.map(({ text }) => text),
        ['We', 'are', 'open.', 'Come', 'in.'],
      )
      const starts = words.map(({ startTime }) => startTime)
      t.same(
        starts,
        [...starts].sort((a, b) => a - b),
        'the second utterance begins where the first ends',
      )
      t.ok(starts[0] === 0 && starts[3]! > starts[2]! && starts[4]! < audioS, `${starts} of ${audioS} s`)
    },
  )
})
