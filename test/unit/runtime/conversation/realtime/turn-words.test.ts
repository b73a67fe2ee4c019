import { llm } from '@livekit/agents'
import { test } from 'tap'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { TurnWords } from '../../../../../runtime/conversation/realtime/turn-words.ts'

const turn = (text: string, atMs = 0): CallEventBody => ({ type: 'turn', text, start_ms: atMs, end_ms: atMs + 500 })
const answer: CallEventBody = {
  ...{ type: 'heard', text: 'Yes?', start_ms: 0, end_ms: 10 },
  ...{ interrupted: false, final: true },
}
const asked = (text: string) => llm.ChatMessage.create({ role: 'user', content: text })
const places = (corrections: ReturnType<TurnWords['told']>) => corrections.map(({ event }) => [event.turn, event.text])

test('words find their turn by its place in the call, behind those of the workers before', (t) => {
  const words = new TurnWords(4)
  const message = asked('Helo.')
  t.strictSame(words.told(answer), [])
  t.strictSame(words.told({ ...answer, final: false }), [])
  words.told(turn('Helo.', 700), { from: 1, to: 2 })
  t.strictSame(words.transcribed({ message, words: 'Hello.' }), [
    {
      event: { type: 'transcribed', turn: 5, text: 'Hello.', start_ms: 700, end_ms: 1_200 },
      sound: { from: 1, to: 2 },
    },
  ])
  t.equal(message.textContent, 'Hello.', 'the conversation remembers them')
  t.strictSame(
    places(words.transcribed({ message, words: 'Hello, you.' })),
    [[5, 'Hello, you.']],
    'and what comes later',
  )
  t.end()
})

test('words of a turn that is told after them wait for it', (t) => {
  const words = new TurnWords(0)
  const message = asked('Wear?')
  t.strictSame(words.transcribed({ message, words: 'Where' }), [])
  t.strictSame(words.transcribed({ message, words: 'Where?' }), [])
  t.strictSame(words.told(answer), [])
  t.strictSame(places(words.told(turn('Wear?'))), [[1, 'Where?']])
  t.end()
})

test('of turns with the same words the last one is corrected, which was neither typed nor corrected before', (t) => {
  const words = new TurnWords(0)
  words.told(turn('Yes.'))
  words.told(answer)
  words.told(turn('Yes.'))
  words.told({ ...turn('Yes.'), inputs: [3] } as CallEventBody)
  t.strictSame(places(words.transcribed({ message: asked('Yes.'), words: 'Yes!' })), [[2, 'Yes!']])
  t.strictSame(places(words.transcribed({ message: asked('Yes.'), words: 'Yes?' })), [[0, 'Yes?']])
  t.strictSame(words.transcribed({ message: asked('Yes.'), words: 'Yes' }), [])
  t.end()
})
