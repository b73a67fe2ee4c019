import { stt, tts } from '@livekit/agents'
import { AudioFrame } from '@livekit/rtc-node'
import t from 'tap'
import offline from '../../../../plugins/offline/mod.ts'
import manifest from '../../../../plugins/offline/plugin.json' with { type: 'json' }
import sim from '../../../../plugins/sim/mod.ts'
import { SENTENCES } from '../../../../plugins/sim/utterances/index.ts'
import { LANGUAGES } from '../../../../runtime/conversation/languages/index.ts'
import { Resampler } from '../../../../runtime/media/dsp/resample.ts'
import { defaultsOf } from '../../../../runtime/plugin/catalogue.ts'
import type { Provides } from '../../../../runtime/plugin/contract.ts'
import type { SentenceTTS } from '../../../../runtime/plugin-sdk/speech/sentence-tts.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const RATE_HZ = 16_000

async function say(voice: tts.TTS, text: string): Promise<Int16Array[]> {
  const stream = voice.stream()
  const resampler = new Resampler(voice.sampleRate, RATE_HZ)
  const parts: Int16Array[] = []
  stream.pushText(text)
  stream.endInput()
  for await (const piece of stream) {
    if (piece !== tts.SynthesizeStream.END_OF_STREAM) parts.push(resampler.push(piece.frame.data).slice())
  }
  stream.close()
  return parts
}

async function hear(engine: stt.STT, parts: readonly Int16Array[]): Promise<(string | undefined)[]> {
  const stream = engine.stream()
  for (const samples of [...parts, new Int16Array(RATE_HZ)]) {
    stream.pushFrame(new AudioFrame(samples, RATE_HZ, 1, samples.length))
  }
  stream.endInput()
  const found: (string | undefined)[] = []
  for await (const { type, alternatives } of stream) {
    if (type === stt.SpeechEventType.FINAL_TRANSCRIPT) found.push(alternatives?.[0].text)
  }
  return found
}

for (const { code, phrases } of LANGUAGES) {
  t.test(`what the default voice of ${code} says is heard as it was said`, async (t) => {
    const { voice = '' } = defaultsOf(manifest.provides.tts as Provides, code)
    t.equal(voice.split('-')[0], code, 'it is a voice of the language')
    const speaker = await offline.tts?.(runOnlyHost('offline'), { voice, language: code, settings: {} })
    const listener = await sim.stt?.(runOnlyHost('sim'), { language: code, settings: {} })
    const text = SENTENCES.find(({ language }) => language === code)?.utterances.at(-3)
    // The recogniser of the tests knows the sentences of the demo alone.
    if (text === undefined) return t.ok((await say(speaker as tts.TTS, phrases.stillThere)).length > 0)
    t.same(await hear(listener as stt.STT, await say(speaker as tts.TTS, text)), [text])
  })
}

t.test('a voice changes its language in the middle of a session', async (t) => {
  const speaker = (await offline.tts?.(runOnlyHost('offline'), { voice: 'en-us', settings: {} })) as SentenceTTS
  const listener = (await sim.stt?.(runOnlyHost('sim'), { language: 'multi', settings: {} })) as stt.STT
  speaker.speakIn('de')
  t.equal(speaker.model, 'de')
  t.same(await hear(listener, await say(speaker, 'Wo kann ich parken?')), ['Wo kann ich parken?'])
  speaker.speakIn('en-GB')
  t.same(await hear(listener, await say(speaker, 'Where can I park?')), ['Where can I park?'])
})
