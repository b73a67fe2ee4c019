import { spawn } from 'node:child_process'
import t from 'tap'
import { Recogniser, type RecogniserEvent } from '../../../../plugins/sim/recogniser.ts'
import type { Template } from '../../../../plugins/sim/template.ts'
import utterances from '../../../../plugins/sim/utterances/en.json' with { type: 'json' }
import { Vocabulary } from '../../../../plugins/sim/vocabulary.ts'
import { decodeG711, encodeG711 } from '../../../../runtime/media/codecs/g711.ts'
import { joinSamples } from '../../../../runtime/media/frame.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'

const VOICES = ['en-us', 'en-us+f3']
const stop = new AbortController()
const vocabulary = new Vocabulary(
  (program, args, options) => spawn(program, args, { ...options, stdio: 'pipe' }),
  stop.signal,
)
const templates: Template[] = []

t.before(async () => {
  templates.push(...(await vocabulary.templates(utterances, VOICES)))
})

const silence = (rateHz: number, ms: number) => new Int16Array(Math.round((rateHz * ms) / 1000))

/** Hears samples in 20 ms packets, with silence around them. */
function hear(samples: Int16Array, rateHz: number, silenceBeforeMs = 303): RecogniserEvent[] {
  const events: RecogniserEvent[] = []
  const recogniser = new Recogniser(rateHz, { endSilenceMs: 200 })
  recogniser.use(templates)
  const audio = joinSamples([silence(rateHz, silenceBeforeMs), samples, silence(rateHz, 700)])
  const packet = rateHz / 50
  for (let i = 0; i < audio.length; i += packet) recogniser.push(audio.subarray(i, i + packet), (e) => events.push(e))
  return events
}

const said = (events: readonly RecogniserEvent[]) =>
  events.flatMap((event) => (event.type === 'final' ? [event.text] : [])).join(' | ')

/** A repeatable noise in -1…1. */
function noiseSource(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  }
}

for (const rateHz of [8_000, 16_000, 24_000]) {
  t.test(`every utterance of the vocabulary is recognised at ${rateHz} Hz, in each voice`, async (t) => {
    for (const voice of VOICES) {
      for (const text of utterances) {
        t.equal(said(hear(await renderSpeech(text, rateHz, voice), rateHz)), text, `${voice}: ${text}`)
      }
    }
  })
}

t.test('what a telephone line does to a voice is no hindrance', async (t) => {
  const noise = noiseSource(1)
  for (const text of utterances) {
    const spoken = await renderSpeech(text, 8_000)
    const quiet = spoken.map((sample) => sample / 8)
    t.equal(said(hear(decodeG711('pcmu', encodeG711('pcmu', quiet)), 8_000)), text, `quiet, G.711: ${text}`)
    const noisy = spoken.map((sample) => Math.max(-32_768, Math.min(32_767, sample + 120 * noise())))
    t.equal(said(hear(noisy, 8_000)), text, `noisy: ${text}`)
  }
})

t.test('a noise that is let through shortly before the words is no part of them', async (t) => {
  const noise = noiseSource(3)
  for (const text of utterances) {
    const spoken = await renderSpeech(text, 8_000)
    const rms = Math.sqrt(spoken.reduce((sum, one) => sum + one * one, 0) / spoken.length)
    // An even noise of 35 dB less.
    const loudness = rms * 10 ** (-35 / 20) * Math.sqrt(3)
    const over = joinSamples([silence(8_000, 900), spoken, silence(8_000, 300)])
    const noisy = over.map((sample) => Math.max(-32_768, Math.min(32_767, sample + loudness * noise())))
    t.equal(said(hear(decodeG711('pcmu', encodeG711('pcmu', noisy)), 8_000)), text, text)
  }
})

t.test('a caller who speaks at once is understood', async (t) => {
  for (const text of utterances) {
    t.equal(said(hear(await renderSpeech(text, 16_000), 16_000, 0)), text, text)
  }
})

t.test('one lost packet is forgiven, a lost word is not', async (t) => {
  const spoken = await renderSpeech('What time do you open on Saturday?', 16_000)
  const packet = spoken.slice()
  packet.fill(0, 8_000, 8_320)
  t.equal(said(hear(packet, 16_000)), 'What time do you open on Saturday?')
  const word = spoken.slice()
  word.fill(0, 5_000, 11_000)
  t.equal(said(hear(word, 16_000)), '')
  t.match(hear(word, 16_000).at(-1), { type: 'end', recognised: false })
})

t.test('other sentences, another voice, noise and music are not recognised', async (t) => {
  for (const text of [
    'What time do you open on Monday?',
    'My hovercraft is full of eels.',
    'I would like to book a table for ten.',
    'Please call me back tomorrow at five.',
    'How much does shipping cost?',
  ]) {
    t.equal(said(hear(await renderSpeech(text, 16_000), 16_000)), '', text)
  }
  t.equal(said(hear(await renderSpeech('Where can I park?', 16_000, 'en-gb+m7'), 16_000)), '', 'another voice')
  const noise = noiseSource(7)
  t.equal(
    said(
      hear(
        Int16Array.from({ length: 160_000 }, () => 9_000 * noise()),
        16_000,
      ),
    ),
    '',
    'noise',
  )
  const melody = Int16Array.from({ length: 160_000 }, (_, i) => {
    const note = 220 * 2 ** ((([0, 4, 7, 12][Math.floor(i / 4_000) % 4] ?? 0) as number) / 12)
    const phase = (2 * Math.PI * note * i) / 16_000
    return 6_000 * (Math.sin(phase) + Math.sin(2 * phase) / 2 + Math.sin(3 * phase) / 3)
  })
  t.equal(said(hear(melody, 16_000)), '', 'music')
})

t.test('words are told while they are spoken, and the utterance soon after its end', async (t) => {
  const events = hear(await renderSpeech('What time do you open on Saturday?', 16_000), 16_000)
  const interims = events.filter((event) => event.type === 'interim')
  t.ok(interims.length >= 3)
  t.match(interims[0]?.text, /^What( time)?$/)
  t.ok(interims.every((event, i) => i === 0 || event.text.length > (interims[i - 1]?.text.length ?? 0)))
  t.same([events[0]?.type, events.at(-2)?.type, events.at(-1)?.type], ['start', 'final', 'end'])
})

t.test('two utterances with a breath between them are both recognised', async (t) => {
  const rateHz = 16_000
  const both = joinSamples([
    await renderSpeech('Hello.', rateHz),
    silence(rateHz, 120),
    await renderSpeech('Where can I park?', rateHz),
  ])
  t.equal(said(hear(both, rateHz)), 'Hello. | Where can I park?')
})
