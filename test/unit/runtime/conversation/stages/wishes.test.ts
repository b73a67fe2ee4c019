import t from 'tap'
import { desk } from './support/desk.ts'

const dialled = { voicemail: { behaviour: 'hang_up', message: '' } } as const
const tool = { name: 'do_not_call', description: '', parameters: {}, kind: 'http' } as const

t.test('the language model is told of a wish not to be called again, once', async (t) => {
  const { take, says } = desk({ ...dialled, tools: [tool] })
  says('Please stop calling me.')
  const note =
    'is told: The callee asks not to be called again. Call the tool do_not_call now, confirm it, and end the call politely.'
  t.ok(take().includes(note))
  says('Never call me again!')
  t.notOk(take().includes(note))
  const without = desk(dialled)
  without.says('Rufen Sie mich nicht mehr an.')
  t.ok(without.take().some((one) => one.startsWith('is told: The callee asks not to be called again. Say that')))
})

t.test('not of anything else, and not on a call that the caller began', async (t) => {
  const other = desk({ ...dialled, tools: [tool] })
  other.says('Call me again tomorrow.')
  t.notOk(other.take().some((one) => one.startsWith('is told')))
  const inbound = desk({ tools: [tool] })
  inbound.says('Stop calling me.')
  t.notOk(inbound.take().some((one) => one.startsWith('is told')))
})
