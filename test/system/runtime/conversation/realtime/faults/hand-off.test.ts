import { test } from 'tap'
import { everywhere } from '../../../../../unit/runtime/conversation/realtime/isolated.ts'
import { realtimeCall } from '../../../../../unit/runtime/conversation/realtime/setup.ts'
import { WHERE } from '../../../../../unit/runtime/conversation/realtime/support.ts'
import { resumeAfter } from '../../../../../unit/runtime/conversation/support/resume-after.ts'

const BEFORE = { text: 'Where is the shop?', startMs: 0, endMs: 900, interrupted: false }

test('the agent that is handed a call speaks in a session of its own, which knows what was said before', (t) =>
  everywhere(t, {}, async (t, world) => {
    const { port, type } = await realtimeCall(t, world, {
      agent: { systemPrompt: 'The billing desk opens at noon. Invoices are sent on Mondays.' },
      open: {
        resume: {
          ...resumeAfter([
            { role: 'user', ...BEFORE },
            { role: 'assistant', ...BEFORE, text: 'One moment, I pass you to billing.', startMs: 1_000, endMs: 2_000 },
          ]),
          greeting: 'done',
        },
      },
    })
    type('When are invoices sent?')
    await port.until('the answer', () => port.said.some((said) => said === 'assistant: Invoices are sent on Mondays.'))
    t.strictSame(
      world
        .held()
        .slice(0, 2)
        .map(({ role, text }) => `${role}: ${text}`),
      [`user: ${WHERE}`, 'assistant: One moment, I pass you to billing.'],
    )
    t.strictSame(world.refused, [])
  }))
