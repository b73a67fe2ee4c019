import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { DELIVERY, PROMPT, WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'
import { call, RATE_HZ } from '../../../../../unit/runtime/conversation/support/harness.ts'
import { ScriptedStt, ToneTts } from '../../../../../unit/runtime/conversation/support/providers.ts'
import { speech } from '../../../../../unit/runtime/conversation/support/speech.ts'

const LONG = `${PROMPT} ${'Our parking lot is right behind the house and it is open around the clock. '.repeat(4)}`
const PARKING = 'Where can I park around the clock?'
const words = (text: string) => text.split(/\s+/).filter(Boolean).length

test('of an answer that the caller cut off the session holds what was heard', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, say, type, hangUp } = await call({
      providers: {
        stt: new ScriptedStt({ utterances: [WHERE, DELIVERY] }),
        llm: await world.model(),
        tts: new ToneTts(),
      },
      agent: { systemPrompt: LONG, firstMessage: '' },
    })
    t.teardown(hangUp)
    type(PARKING)
    await port.until('the agent speaks', () => port.loudFrames > 40)
    await say(speech(DELIVERY, RATE_HZ))
    await port.until('the second answer', () => port.said.length >= 4)
    t.equal(port.said[3], 'assistant: Delivery costs three euros anywhere in town.')
    const heard = port.turns[1]!.turn.text
    const held = world.held().find(({ role, text }) => role === 'assistant' && text.startsWith('Our'))?.text ?? ''
    t.ok(Math.abs(words(held) - words(heard)) <= 2, `“${held}” is held, “${heard}” was heard`)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))

test('of an answer of which nothing was heard the session holds nothing', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type, hangUp } = await call({
      providers: { stt: new ScriptedStt({ utterances: [] }), llm: await world.model(), tts: new ToneTts() },
      agent: { systemPrompt: LONG, firstMessage: '' },
    })
    t.teardown(hangUp)
    type(PARKING)
    await port.until('the answer was asked for', () => port.states.includes('thinking'))
    type(DELIVERY)
    await port.until('the answer', () => port.said.some((said) => said.startsWith('assistant: Delivery costs')))
    const heard = port.said.filter((said) => said.startsWith('assistant: Our')).join(' ')
    const held = world.held().filter(({ role, text }) => role === 'assistant' && text.startsWith('Our'))
    t.ok(
      Math.abs(words(heard) - words(held.map(({ text }) => text).join(' '))) <= 2,
      `${held.length} held, “${heard}” heard`,
    )
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  }))
