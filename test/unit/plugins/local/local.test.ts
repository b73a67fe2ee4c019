import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stt, type tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { defaultProviders } from '../../../../runtime/plugin/default-providers.ts'
import { describeDefaults } from '../../../../runtime/plugin/describe-defaults.ts'
import { loadPlugins, type PluginRegistry } from '../../../../runtime/plugin/host.ts'
import { runSttConformance } from '../../../conformance/stt.ts'
import { runTtsConformance } from '../../../conformance/tts.ts'
import { endNativeRuntime } from '../../../support/instance/native-runtime.ts'
import { usePlainNode } from '../../../support/instance/plain-node.ts'
import { speechEngine } from '../../../support/phone/speech-engine.ts'
import { putModels } from '../../../support/providers/local-models.ts'

const RATE_HZ = 16_000
const FRAME = RATE_HZ / 50

endNativeRuntime()
usePlainNode(t)
const engine = await speechEngine()
const test = (name: string, body: (t: Test) => Promise<unknown>): void => void t.test(name, { skip: engine.skip }, body)

interface World {
  registry: PluginRegistry
  dataDir: string
  logged: string[]
}

async function world(t: Test, models: readonly string[], options: object = {}, hasEngine = true): Promise<World> {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-local-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  if (hasEngine) engine.put(dataDir)
  if (models.length > 0) putModels(dataDir, models)
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const logged: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) })
  const dir = join(import.meta.dirname, '../../../../plugins/local')
  const registry = await loadPlugins({
    config: { dataDir },
    env: {},
    log,
    signal: stop.signal,
    createTimeoutMs: 60_000,
    only: { name: 'local', dir, settings: { options: { ...options } } },
  })
  return { registry, dataDir, logged }
}

/** A tone, or silence at 0 Hz. */
function sound(hz: number, seconds: number, loudness = 0.3): Float32Array {
  return Float32Array.from(
    { length: RATE_HZ * seconds },
    (_, n) => loudness * Math.sin((2 * Math.PI * hz * n) / RATE_HZ),
  )
}

function framesOf(...pieces: readonly Float32Array[]): AudioFrame[] {
  const all = pieces.flatMap((piece) => Array.from(piece, (sample) => Math.round(sample * 32_000)))
  return Array.from(
    { length: Math.floor(all.length / FRAME) },
    (_, n) => new AudioFrame(Int16Array.from(all.slice(n * FRAME, (n + 1) * FRAME)), RATE_HZ, 1, FRAME),
  )
}

const LOW = 300
const HIGH = 3_000
const lowHigh = (): AudioFrame[] =>
  framesOf(sound(0, 0.5), sound(LOW, 0.2), sound(0, 0.1), sound(HIGH, 0.3), sound(0, 1.5))

interface Heard {
  events: stt.SpeechEvent[]
  finals: string[]
}

async function hear(recogniser: stt.STT, frames: readonly AudioFrame[]): Promise<Heard> {
  const stream = recogniser.stream()
  for (const frame of frames) stream.pushFrame(frame)
  stream.endInput()
  const events: stt.SpeechEvent[] = []
  for await (const event of stream) events.push(event)
  const finals = events
    .filter(({ type }) => type === stt.SpeechEventType.FINAL_TRANSCRIPT)
    .map(({ alternatives }) => alternatives?.[0]?.text ?? '')
  return { events, finals }
}

/** The length of what is said, and its pitch. */
async function speak(voice: tts.TTS, text: string): Promise<{ seconds: number; hz: number }> {
  let [samples, crossings, before] = [0, 0, 0]
  for await (const { frame } of voice.synthesize(text)) {
    for (const sample of frame.data) {
      if (before < 0 && sample >= 0) crossings++
      before = sample
    }
    samples += frame.samplesPerChannel
  }
  const seconds = samples / voice.sampleRate
  return { seconds, hz: Math.round(crossings / seconds) }
}

test('what was not pulled is told with its cure, by kind, and is nobody’s default', async (t) => {
  const { registry } = await world(t, ['piper-en-alba'])
  const cure =
    /Local speech can't listen yet: no model for it is on this machine; run: npm run patchbay models pull zipformer-en \(71 MB\), then restart/
  await t.rejects(registry.create('stt', 'local'), { message: cure })
  t.match(registry.missingKey('local', 'stt'), cure)
  t.equal(registry.missingKey('local', 'tts'), undefined)
  t.equal(registry.missingKey('local'), undefined)
  t.same(registry.catalogue.tts.get('local')?.voices, ['piper-en-alba'])
  t.match((await world(t, [])).registry.missingKey('local'), cure)
})

test('what runs the models is not brought along, and told with its cure, too', async (t) => {
  const neither = (await world(t, [], {}, false)).registry
  t.match(
    neither.missingKey('local', 'stt'),
    /neither a model for it nor what runs it is on this machine; run: npm run patchbay models engine \(33 MB\), npm run patchbay models pull zipformer-en \(71 MB\), then restart/,
  )
  const { registry } = await world(t, ['zipformer-en'], {}, false)
  const cure =
    /Local speech can't listen yet: what runs its models is not on this machine; run: npm run patchbay models engine \(33 MB\), then restart/
  await t.rejects(registry.create('stt', 'local'), { message: cure })
})

test('a pulled model makes it the default of new agents; until then the start offers it', async (t) => {
  const load = async (models: readonly string[]): Promise<PluginRegistry> => {
    const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-local-'))
    t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
    if (models.length > 0) putModels(dataDir, models)
    engine.put(dataDir)
    const { signal } = new AbortController()
    return loadPlugins({ config: { dataDir }, env: {}, log: pino({ level: 'silent' }), signal })
  }
  const without = await load([])
  const [line, ...notices] = describeDefaults(without, defaultProviders(without, {}))
  t.match(line, /listen with Sim \(no key is set\)/)
  t.match(notices.join('\n'), /run: npm run patchbay models pull zipformer-en/)

  const pulled = await load(['zipformer-en', 'kokoro-en'])
  const defaults = defaultProviders(pulled, {})
  t.match(defaults, { stt: { provider: 'local', reason: 'model' }, tts: { provider: 'local', reason: 'model' } })
  const said = describeDefaults(pulled, defaults)
  t.match(said[0], /listen with Local speech \(its model is here\)/)
  t.equal(said.length, 1)
  t.equal(pulled.catalogue.tts.get('local')?.voices?.[1], 'kokoro-en:af_bella')
})

test('a streaming model hears word by word', async (t) => {
  const { registry } = await world(t, ['zipformer-en'])
  const recogniser = await registry.create('stt', 'local')
  const { events, finals } = await hear(recogniser, lowHigh())
  t.same(finals, ['low high'])
  const interims = events.filter(({ type }) => type === stt.SpeechEventType.INTERIM_TRANSCRIPT)
  t.equal(interims[0]?.alternatives?.[0]?.text, 'low', 'before the second word was said')
  const final = events.find(({ type }) => type === stt.SpeechEventType.FINAL_TRANSCRIPT)?.alternatives?.[0]
  t.ok(Math.abs((final?.startTime ?? 0) - 0.5) < 0.3, `began at ${final?.startTime} s`)
  t.ok(Math.abs((final?.endTime ?? 0) - 1) < 0.3, `ended at ${final?.endTime} s`)

  const twice = framesOf(sound(0, 0.3), sound(LOW, 0.6), sound(0, 1.2), sound(HIGH, 0.6), sound(0, 1))
  t.same((await hear(recogniser, twice)).finals, ['low', 'high'], 'a pause ends an utterance')

  const many = await Promise.all(Array.from({ length: 10 }, () => hear(recogniser, lowHigh())))
  t.same(
    many.map(({ finals }) => finals.join()),
    Array.from({ length: 10 }, () => 'low high'),
    'side by side',
  )
})

test('a model that takes whole utterances hears what the voice activity detector cuts', async (t) => {
  const { registry } = await world(t, ['parakeet-v3'])
  const recogniser = await registry.create('stt', 'local')
  const { finals, events } = await hear(recogniser, speechLike())
  t.ok(finals.length > 0, 'the detector takes it for speech')
  t.match(finals.join(' '), /low|high/)
  t.equal(events.filter(({ type }) => type === stt.SpeechEventType.INTERIM_TRANSCRIPT).length, 0)
})

/** What the detector takes for a voice: the vowels of espeak-ng would do, harmonics of a low pitch do, too. */
function speechLike(): AudioFrame[] {
  const vowel = (pitchHz: number, formants: readonly number[], seconds: number): Float32Array => {
    const samples = new Float32Array(RATE_HZ * seconds)
    for (let harmonic = 1; harmonic * pitchHz < 4_000; harmonic++) {
      const hz = harmonic * pitchHz
      const loudness = formants.reduce((sum, formant) => sum + Math.exp(-(((hz - formant) / 150) ** 2)), 0.02)
      for (let n = 0; n < samples.length; n++) {
        const t = n / RATE_HZ
        const phase = 2 * Math.PI * hz * t + 0.3 * harmonic * Math.sin(2 * Math.PI * 5 * t)
        samples[n] = (samples[n] ?? 0) + 0.08 * loudness * Math.sin(phase) * Math.min(1, t * 20)
      }
    }
    return samples
  }
  const word = [vowel(120, [700, 1_200, 2_500], 0.25), vowel(130, [300, 2_300, 3_000], 0.25)]
  return framesOf(sound(0, 0.5), ...word, ...word, ...word, sound(0, 1.5))
}

test('noise is taken away before the recogniser, unless the operator wants it so', async (t) => {
  const noisy = framesOf(sound(0, 0.5), mixed(sound(LOW, 0.8), sound(6_000, 0.8, 0.6)), sound(0, 1.5))
  const hears = async (models: readonly string[], options = {}): Promise<string[]> => {
    const { registry } = await world(t, models, options)
    return (await hear(await registry.create('stt', 'local'), noisy)).finals
  }
  t.strictSame(await hears(['zipformer-en', 'gtcrn']), ['low'])
  t.notSame(await hears(['zipformer-en']), ['low'])
  t.notSame(await hears(['zipformer-en', 'gtcrn'], { denoise: false }), ['low'])
})

const mixed = (a: Float32Array, b: Float32Array): Float32Array => a.map((sample, n) => (sample + (b[n] ?? 0)) / 2)

test('a Piper voice speaks as long as the text', async (t) => {
  const { registry } = await world(t, ['piper-en-alba'])
  const voice = await registry.create('tts', 'local')
  t.equal(voice.sampleRate, 22_050)
  const [short, long] = [await speak(voice, 'Hello.'), await speak(voice, 'Hello there, how are you today?')]
  t.ok(Math.abs(short.hz - 220) < 5, `${short.hz} Hz`)
  t.ok(long.seconds > 2 * short.seconds, `${long.seconds} s, ${short.seconds} s`)
  const fast = await world(t, ['piper-en-alba'], { speed: 2 })
  const hurried = await speak(await fast.registry.create('tts', 'local'), 'Hello there, how are you today?')
  t.ok(hurried.seconds < 0.7 * long.seconds)
})

test('Kokoro speaks as whom the agent names', async (t) => {
  const { registry } = await world(t, ['kokoro-en'])
  const pitch = async (voice?: string): Promise<number> =>
    (await speak(await registry.create('tts', 'local', voice === undefined ? {} : { voice }), 'Hello there.')).hz
  t.ok(Math.abs((await pitch()) - 200) < 5)
  t.ok(Math.abs((await pitch('kokoro-en:af_sky')) - 400) < 5)
  await t.rejects(speakAs(registry, 'kokoro-en:nobody'), /has no voice "kokoro-en:nobody"/)
})

const speakAs = async (registry: PluginRegistry, voice: string) =>
  speak(await registry.create('tts', 'local', { voice }), 'Hello.')

test('a fault of native code ends what its own model does, and that begins again', async (t) => {
  const { registry, dataDir, logged } = await world(t, ['zipformer-en', 'kokoro-en'])
  const recogniser = await registry.create('stt', 'local')
  const stream = recogniser.stream()
  const frames = lowHigh()
  for (const frame of frames.slice(0, 25)) stream.pushFrame(frame)

  // sherpa-onnx ends the process where the number of voices is not the model's.
  const voices = join(dataDir, 'models/local/kokoro-en/voices.bin')
  const whole = readFileSync(voices)
  truncateSync(voices, 4_000)
  const voice = await registry.create('tts', 'local')
  const failures: string[] = []
  voice.on('error', ({ error }) => void failures.push(error.message))
  for await (const _ of voice.synthesize('Hello.')) t.fail('it can say nothing')
  t.match(failures[0], /The process of plugin "local" ended/)
  t.match(logged.join('\n'), /The process of plugin "local" ended: it ended with code/)

  for (const frame of frames.slice(25)) stream.pushFrame(frame)
  stream.endInput()
  const finals: string[] = []
  for await (const { type, alternatives } of stream) {
    if (type === stt.SpeechEventType.FINAL_TRANSCRIPT) finals.push(alternatives?.[0]?.text ?? '')
  }
  t.same(finals, ['low high'], 'the caller beside it lost nothing')

  writeFileSync(voices, whole)
  t.ok((await speak(voice, 'Hello there.')).seconds > 0.1)
})

test('files that are gone are told with the cure', async (t) => {
  const { registry, dataDir } = await world(t, ['zipformer-en'])
  t.type(await registry.check('local'), 'number')
  rmSync(join(dataDir, 'models/local/zipformer-en/tokens.txt'))
  const cure = /files of model "zipformer-en" are missing; run: npm run patchbay models pull zipformer-en/
  await t.rejects(registry.check('local'), { message: cure })
  await t.rejects(registry.create('stt', 'local'), { message: cure })
})

test('local ears and voices conform', async (t) => {
  const { registry } = await world(t, ['zipformer-en', 'piper-en-alba'])
  const none = { skip: 'a model on this machine has no server that could be away' }
  await t.test('ears', (t) =>
    runSttConformance(t, {
      make: () => registry.create('stt', 'local'),
      makeFailing: none,
      speech: { frames: lowHigh(), text: 'low high' },
    }),
  )
  await t.test('a voice', (t) =>
    runTtsConformance(t, { make: () => registry.create('tts', 'local'), makeFailing: none }),
  )
})
