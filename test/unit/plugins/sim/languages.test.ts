import { stt } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import t from 'tap'
import plugin from '../../../../plugins/sim/mod.ts'
import { SENTENCES } from '../../../../plugins/sim/utterances/index.ts'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { signalOf } from '../../../../runtime/plugin-sdk/speech/signal.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const RATE_HZ = 16_000
const host = runOnlyHost('sim')

async function recogniser(language: string): Promise<stt.STT> {
  const made = await plugin.stt?.(host, { language, settings: {} })
  if (!made) throw new Error('no stt')
  return made
}

async function hear(engine: stt.STT, text: string, voice: string): Promise<stt.SpeechEvent[]> {
  const silence = new Int16Array(RATE_HZ / 2)
  const samples = joinSamples([silence, await renderSpeech(text, RATE_HZ, voice), silence])
  const stream = engine.stream()
  for (let i = 0; i + 320 <= samples.length; i += 320) {
    stream.pushFrame(new AudioFrame(samples.slice(i, i + 320), RATE_HZ, 1, 320))
  }
  stream.endInput()
  const events: stt.SpeechEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

const finalsOf = (events: readonly stt.SpeechEvent[]) =>
  events
    .filter(({ type }) => type === stt.SpeechEventType.FINAL_TRANSCRIPT)
    .map(({ alternatives }) => alternatives?.[0])

for (const { language, voice, utterances } of SENTENCES) {
  t.test(`sentences are understood in ${language}`, async (t) => {
    const engine = await recogniser(language)
    // The long ones and the short, which are the hardest to tell apart.
    for (const text of [...utterances.slice(0, 5), ...utterances.slice(-8)]) {
      const [heard] = finalsOf(await hear(engine, text, voice))
      t.equal(heard?.text, text)
      t.equal(heard?.language, language)
    }
  })
}

t.test('with multi a caller is understood in any, and the language is named', async (t) => {
  const engine = await recogniser('multi')
  for (const { language, voice, utterances } of SENTENCES) {
    const text = utterances.at(-4) ?? ''
    const [heard] = finalsOf(await hear(engine, text, voice))
    t.same([heard?.text, heard?.language], [text, language])
  }
})

t.test('speech that is no known sentence is told as such', async (t) => {
  const engine = await recogniser('de')
  const events = await hear(engine, 'Dieser Satz steht in keinem Verzeichnis.', 'de')
  t.same(finalsOf(events), [])
  t.match(events.map(signalOf).filter(Boolean), [{ type: 'unknown_sentence', message: /STT_provider/ }])
})
