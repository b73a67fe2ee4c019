import t, { type Test } from 'tap'
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
const unreachable = await registryWith(t, { ...env, ELEVENLABS_BASE_URL: await deserted() })

t.test('the stt of plugin "elevenlabs" conforms', async (t) =>
  runSttConformance(t, {
    make: () => registry.create('stt', 'elevenlabs'),
    makeFailing: () => unreachable.create('stt', 'elevenlabs'),
    speech: { frames: await spokenFrames(TEXT), text: TEXT },
  }),
)

t.test('the tts of plugin "elevenlabs" conforms', (t) =>
  runTtsConformance(t, {
    make: () => registry.create('tts', 'elevenlabs'),
    makeFailing: () => unreachable.create('tts', 'elevenlabs'),
  }),
)

const dialogue = await registryWith(t, env, { elevenlabs: { ttsModel: 'eleven_v4_turbo' } })
const deaf = { ...env, ELEVENLABS_BASE_URL: await deserted() }
const unreachableDialogue = await registryWith(t, deaf, { elevenlabs: { ttsModel: 'eleven_v3_conversational' } })

t.test('eleven_v4_turbo, which speaks over the dialogue socket, conforms', (t) =>
  runTtsConformance(t, {
    make: () => dialogue.create('tts', 'elevenlabs'),
    makeFailing: () => unreachableDialogue.create('tts', 'elevenlabs'),
  }),
)

for (const [model, voices] of [
  ['eleven_flash_v2_5', registry],
  ['eleven_v4_turbo', dialogue],
] as const) {
  t.test(`words of ${model} come with their places in the audio, over sentences and utterances`, (t) =>
    placesOfWords(t, voices),
  )
}

async function placesOfWords(t: Test, voices: typeof registry): Promise<void> {
  await withInstance(
    () => voices.create('tts', 'elevenlabs'),
    async (engine) => {
      t.equal(engine.capabilities.alignedTranscript, true)
      const stream = engine.stream({ connOptions: ONE_ATTEMPT })
      stream.pushText('We are open. Come in. ')
      stream.flush()
      stream.pushText('Sit down.')
      stream.endInput()
      const words: { text: string; startTime: number }[] = []
      let audioS = 0
      for await (const piece of stream) {
        if (typeof piece === 'symbol') continue
        audioS += piece.frame.samplesPerChannel / piece.frame.sampleRate
        for (const { text, startTime } of piece.timedTranscripts ?? [])
          words.push({ text, startTime: Number(startTime) })
      }
      t.same(
        words.map(({ text }) => text),
        ['We', 'are', 'open.', 'Come', 'in.', 'Sit', 'down.'],
      )
      const starts = words.map(({ startTime }) => startTime)
      t.same(
        starts,
        [...starts].sort((a, b) => a - b),
        `${starts}`,
      )
      t.ok(starts[3]! > 0.4 && starts[5]! > starts[4]! && starts[6]! < audioS, `${starts} of ${audioS} s`)
    },
  )
}

t.test('the voices of the account are listed with name, languages and sample', async (t) => {
  t.same(await registry.voices('elevenlabs'), [
    {
      voice: 'EXAVITQu4vr4xnSDxMaL',
      name: 'Sarah',
      languages: ['en', 'fr'],
      sampleUrl: 'https://storage.example/sarah.mp3',
    },
    { voice: 'x'.repeat(20), name: 'Mine', languages: ['de'] },
  ])
})
