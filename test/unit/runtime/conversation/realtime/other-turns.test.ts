import { test } from 'tap'
import { RATE_HZ } from '../support/harness.ts'
import { speech, speechAfterPause } from '../support/speech.ts'
import { realtimeCall } from './setup.ts'
import { DELIVERY, MODELS, type RealtimeWorld, realtimeWorld, VENDORS, type Vendor, WHERE } from './support.ts'

const YES = 'Yes I agree.'
const UNDERSTOOD = [YES, DELIVERY, WHERE]

/** What a stage answers, or a human, is no question to the model: its sound is no part of the next turn. */
for (const vendor of VENDORS) {
  // A model that writes prepares its answers.
  for (const voice of vendor === 'openai' ? ['model', 'own'] : ['model']) {
    consentTest(vendor, voice)
  }
  test(`${MODELS[vendor].title}: what is said to a human who took the call over is text to the model, once`, async (t) => {
    const world = await realtimeWorld(t, { vendor, utterances: UNDERSTOOD })
    const { port, say, conversation } = await realtimeCall(t, world, { utterances: [DELIVERY, WHERE] })
    const who = { id: '1', name: 'Ada' }
    conversation.input({ type: 'took_over', who, seq: 101, at: 0 })
    await say(speech(DELIVERY, RATE_HZ))
    await port.until('it is written down', () => port.said.includes(`user: ${DELIVERY}`))
    conversation.input({ type: 'gave_back', who, summary: 'They know the price.', seq: 102, at: 0 })
    await port.until('the agent goes on', () => port.said.some((said) => said.startsWith('assistant')))
    await say(speechAfterPause(WHERE, RATE_HZ))
    await port.until('the answer', () => port.said.at(-1) === 'assistant: The shop is at 12 Pier Street.')
    t.strictSame(
      world.held().flatMap(({ role, text }) => (role === 'user' && !text.includes('Note for you') ? [text] : [])),
      [DELIVERY, WHERE],
    )
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  })
}

function consentTest(vendor: Vendor, voice: string): void {
  test(`${MODELS[vendor].title}, voice ${voice}: a spoken consent is no part of the question after it`, async (t) => {
    const world = await realtimeWorld(t, { vendor, utterances: UNDERSTOOD })
    const { port, say } = await realtimeCall(t, world, {
      ...(vendor === 'openai' ? { own: { realtimeVoice: voice } } : {}),
      utterances: [YES, WHERE],
      agent: { consentMessage: 'May we record this call?', firstMessage: 'Hello.' },
    })
    await port.until('the question was heard', () => port.said.includes('assistant: May we record this call?'))
    await say(speechAfterPause(YES, RATE_HZ))
    await port.until('the first message was said', () => port.said.at(-1) === 'assistant: Hello.')
    t.strictSame(port.consents, ['given'])
    await say(speechAfterPause(WHERE, RATE_HZ))
    await port.until('the answer', () => port.said.at(-1) === 'assistant: The shop is at 12 Pier Street.')
    t.strictSame(
      world.held().flatMap(({ role, text }) => (role === 'user' ? [text] : [])),
      [WHERE],
    )
    // What a model says in vain costs.
    if (vendor === 'openai' && voice === 'model') t.equal(asked(world), 1)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  })
}

const asked = ({ told }: RealtimeWorld): number => told.filter(({ type }) => type === 'response.create').length
