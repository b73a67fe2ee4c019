import t from 'tap'
import { WorkerRequests } from '../../../../../runtime/call/control/worker-requests.ts'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import type { CallEvent } from '../../../../../runtime/call/log/events.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

t.test('what a tool did is in the log, also where the caller hung up while it ran', async (t) => {
  const events: CallEvent[] = []
  const clock = { nowMs: () => 0, monotonicMs: () => 0 }
  const log = new CallLog(clock, [(event) => void events.push(event)])
  const booked = Promise.withResolvers<{ output: string }>()
  const requests = new WorkerRequests({
    ...{ callId: 'c', log, clock, answers: { tool: () => booked.promise, knowledge: async () => ({ passages: [] }) } },
    agent: () => ({ ...AGENT_SPEC, tools: [] }),
    isAlone: () => false,
    handOff: () => undefined,
  })
  const asked = requests.ask('tool', { id: 'tool-1', name: 'book', arguments: {} })
  log.append({
    type: 'ended',
    status: 'completed',
    end_reason: 'caller_hangup',
    disposition: 'completed',
    duration_ms: 0,
  })
  booked.resolve({ output: 'Booked.' })
  await asked
  log.append({ type: 'typed', text: 'too late' })
  t.same(
    events.map(({ type, seq }) => [type, seq]),
    [
      ['tool_called', 0],
      ['ended', 1],
      ['tool_returned', 2],
    ],
  )
  t.match(events.at(-1), { id: 'tool-1', result: 'Booked.' })
  t.match(log.state.tools, [{ id: 'tool-1', result: 'Booked.' }])
})
