import t from 'tap'
import { callPath, isWorthDrawing } from '../../../web/console/src/screens/agent/procedures/call-path.ts'

const FIRST = { id: 'a-1', name: 'Desk' }

t.test('the path of a call is what each of its agents did, in order', (t) => {
  const visits = callPath(
    [
      { type: 'answered' },
      { type: 'procedure_step', name: 'unknown', step: 0 },
      { type: 'procedure_begun', id: 'tool-1', name: 'cancel' },
      { type: 'procedure_step', name: 'cancel', step: 0 },
      { type: 'procedure_step', name: 'cancel', step: 1, result: '4711' },
      { type: 'procedure_ended', name: 'cancel' },
      { type: 'collected', name: 'phone', status: 'collected', value: '+14155550123' },
      { type: 'collected', name: 'card', status: 'collected', secret: true },
      { type: 'guarded', rule: 'money' },
      { type: 'handed_off', from: 'a-1', to: 'a-2', to_name: 'Billing', reason: 'A bill.' },
      { type: 'procedure_begun', id: 'tool-2', name: 'refund' },
    ],
    FIRST,
  )
  t.same(visits, [
    {
      ...{ agentId: 'a-1', agentName: 'Desk', refused: 1 },
      procedures: [{ name: 'cancel', results: ['', '4711'], ended: true }],
      collected: [
        { name: 'phone', status: 'collected', value: '+14155550123' },
        { name: 'card', status: 'collected' },
      ],
      next: { name: 'Billing', reason: 'A bill.' },
    },
    {
      ...{ agentId: 'a-2', agentName: 'Billing', refused: 0, collected: [] },
      procedures: [{ name: 'refund', results: [], ended: false }],
    },
  ])
  t.ok(isWorthDrawing(visits))
  t.end()
})

t.test('a call that was talk alone has nothing to draw', (t) => {
  t.notOk(isWorthDrawing(callPath([{ type: 'answered' }, { type: 'turn', text: 'Hello' }], FIRST)))
  t.end()
})
