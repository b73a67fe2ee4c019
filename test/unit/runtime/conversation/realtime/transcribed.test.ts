import { test } from 'tap'
import { RATE_HZ } from '../support/harness.ts'
import { speech, speechAfterPause } from '../support/speech.ts'
import { everywhere } from './isolated.ts'
import { realtimeCall } from './setup.ts'
import { DELIVERY, type RealtimeWorld, realtimeWorld, WHERE } from './support.ts'

const transcribe = { language: 'en', keyterms: ['Pier Street'] }
const agent = { transcribe: 'model' as const }
/** A recogniser that is hard of hearing. */
const writes = (text: string): string => text.replace('shop', 'ship').replace('delivery', 'the livery')

/** What the first session was told about transcription. */
const asked = ({ told, vendor }: RealtimeWorld): unknown => {
  const [first] = told as { session?: { audio?: { input?: { transcription?: object } } }; setup?: object }[]
  return vendor === 'openai'
    ? first?.session?.audio?.input?.transcription
    : (first?.setup as { inputAudioTranscription?: object } | undefined)?.inputAudioTranscription
}

test('the model’s words for what the caller said take the place of the recogniser’s, turn by turn', (t) =>
  everywhere(t, { transcribe }, async (t, world) => {
    const { port, say } = await realtimeCall(t, world, { agent, writes })
    const corrections = () => port.events.filter((event) => event.type === 'transcribed')
    // Words that come in pieces are told again when there are more.
    const corrected = () => [...new Map(corrections().map((event) => [event.turn, event])).values()]
    const isWritten = (text: string) => corrections().some((event) => event.text === text)
    await say(speech(WHERE, RATE_HZ))
    await port.until('the answer, and the words of the question', () => port.said.length >= 2 && isWritten(WHERE))
    await say(speechAfterPause(DELIVERY, RATE_HZ))
    await port.until('the same again', () => port.said.length >= 4 && isWritten(DELIVERY))
    t.match(port.said, [`user: ${writes(WHERE)}`, /12 Pier Street/, `user: ${writes(DELIVERY)}`, /three euros/])
    const spoken = port.turns.filter(({ turn }) => turn.role === 'user').map(({ turn }) => turn)
    t.match(corrected(), [
      { turn: 0, text: WHERE, start_ms: spoken[0]?.startMs, end_ms: spoken[0]?.endMs },
      { turn: 2, text: DELIVERY, start_ms: spoken[1]?.startMs, end_ms: spoken[1]?.endMs },
    ])
    if (world.vendor === 'openai') t.equal(corrections().length, 2)
    const used = port.events.flatMap((event) => (event.type === 'usage' && event.served_by ? [event] : []))
    if (world.vendor === 'openai') {
      t.match(used[0], { stage: 'stt', served_by: { provider: 'openai', model: 'gpt-transcribe' } })
      t.ok((used[0]?.seconds ?? 0) > 0.5 && (used[0]?.seconds ?? 0) < 5, `${used[0]?.seconds} s`)
      t.strictSame(asked(world), { model: 'gpt-transcribe', languages: ['en'], keywords: ['Pier Street'] })
    } else {
      t.equal(used.length, 0, 'it bills no other model')
      t.strictSame(asked(world), { languageCodes: ['en'], customVocabulary: ['Pier Street'] })
    }
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))

test('what takes over knows the caller’s words as the model understood them', async (t) => {
  const world = await realtimeWorld(t, { transcribe })
  const { port, say, type } = await realtimeCall(t, world, { agent, writes, fallback: 'At nine.' })
  await say(speech(WHERE, RATE_HZ))
  await port.until('its words', () => port.said.length >= 2 && port.events.some(({ type }) => type === 'transcribed'))
  world.double.cut()
  await port.until('another session is open', () => world.sessions() === 2)
  type(DELIVERY)
  await port.until('the second answer', () => port.said.length >= 4)
  t.match(world.held()[0], { role: 'user', text: WHERE })
})

test('a model is not asked to write what the recogniser’s words are kept of', async (t) => {
  for (const vendor of ['openai', 'google'] as const) {
    const world = await realtimeWorld(t, { vendor })
    const { port, say } = await realtimeCall(t, world, { writes })
    await say(speech(WHERE, RATE_HZ))
    await port.until('the answer', () => port.said.length >= 2)
    t.equal(port.said[0], `user: ${writes(WHERE)}`)
    t.equal(asked(world), undefined, world.title)
    t.notOk(port.events.some(({ type }) => type === 'transcribed'))
  }
})
