import { spawn } from 'node:child_process'
import { stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import t from 'tap'
import plugin from '../../../../plugins/sim/mod.ts'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const RATE_HZ = 16_000
const host = runOnlyHost('sim')

const make = async (scenario: object, settings = {}) => {
  const made = await plugin.stt?.(host, { model: JSON.stringify(scenario), settings })
  if (!made) throw new Error('no stt')
  return made
}

function speak(stream: stt.SpeechStream, samples: Int16Array<ArrayBuffer>) {
  const packet = RATE_HZ / 50
  for (let i = 0; i + packet <= samples.length; i += packet) {
    stream.pushFrame(new AudioFrame(samples.slice(i, i + packet), RATE_HZ, 1, packet))
  }
}

const events = async (stream: stt.SpeechStream) => {
  const found: stt.SpeechEvent[] = []
  for await (const event of stream) found.push(event)
  return found
}

t.test('an utterance of the agent is recognised as it streams, and its audio is accounted for', async (t) => {
  const text = 'I have lost my umbrella on the train.'
  const stream = (await make({ utterances: [text], voices: ['en-us'] })).stream()
  const silence = new Int16Array(RATE_HZ)
  speak(stream, joinSamples([silence, await renderSpeech(text, RATE_HZ), silence]))
  stream.endInput()
  const heard = await events(stream)
  const { SpeechEventType: Type } = stt
  const finals = heard.filter((event) => event.type === Type.FINAL_TRANSCRIPT)
  t.same(
    finals.map((event) => event.alternatives?.[0].text),
    [text],
  )
  const [start] = finals[0]?.alternatives ?? []
  t.ok(start && start.startTime > 0.9 && start.startTime < 1.2, `starts at ${start?.startTime}`)
  t.ok(heard.some((event) => event.type === Type.INTERIM_TRANSCRIPT))
  const seconds = heard.reduce((sum, event) => sum + (event.recognitionUsage?.audioDuration ?? 0), 0)
  t.ok(seconds > 3.5 && seconds < 6, `${seconds} s accounted for`)
})

t.test('a file of utterances is read through the host and understood', async (t) => {
  const text = 'Where is the lost property office?'
  const reading = runOnlyHost('sim', { read: { bytes: async () => new TextEncoder().encode(`\n${text}\n`) } })
  const engine = await plugin.stt?.(reading, { settings: { utterancesFile: '/utterances.txt', voices: ['en-us'] } })
  const samples = joinSamples([new Int16Array(4_000), await renderSpeech(text, RATE_HZ)])
  const event = await engine?.recognize(new AudioFrame(samples, RATE_HZ, 1, samples.length))
  t.equal(event?.alternatives?.[0].text, text)
})

t.test('a disconnection is retried and the stream goes on', async (t) => {
  const engine = await make({ voices: ['en-us'], fault: { kind: 'disconnect', times: 1 } })
  const stream = engine.stream()
  speak(stream, new Int16Array(RATE_HZ / 50))
  speak(
    stream,
    joinSamples([new Int16Array(RATE_HZ / 2), await renderSpeech('Thank you.', RATE_HZ), new Int16Array(RATE_HZ)]),
  )
  stream.endInput()
  const heard = await events(stream)
  t.ok(
    heard.some(
      (event) => event.type === stt.SpeechEventType.FINAL_TRANSCRIPT && event.alternatives?.[0].text === 'Thank you.',
    ),
  )
})

t.test('a scenario that does not fit is refused with its fault', async (t) => {
  await t.rejects(make({ endSilenceMs: 'soon' }), { code: 'plugin', message: /endSilenceMs must be number/ })
  await t.rejects(
    async () => plugin.stt?.(host, { model: 'nova-3', settings: {} }),
    /no such scenario; there are default/,
  )
})

t.test('without its program the recogniser says what to install', async (t) => {
  const bare = runOnlyHost('sim', {
    signal: new AbortController().signal,
    run: { spawn: (_, args, options) => spawn('program-that-is-not-there', args, { ...options, stdio: 'pipe' }) },
  })
  const engine = await plugin.stt?.(bare, { settings: {} })
  const failed = new Promise<Error>((resolve) => engine?.on('error', ({ error }) => resolve(error)))
  const stream = engine?.stream()
  stream?.endInput()
  t.match((await failed).message, /"espeak-ng" was not found; install it/)
})
