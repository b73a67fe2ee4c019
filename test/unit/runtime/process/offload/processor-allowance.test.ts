import t from 'tap'
import { ProcessorAllowance } from '../../../../../runtime/process/offload/processor-allowance.ts'

t.test('a workspace has some of the processor at once, and regains it with time', async (t) => {
  let nowMs = 0
  const allowance = new ProcessorAllowance(() => nowMs)
  allowance.spend('a', 149)
  t.equal(allowance.isSpent('a'), false)
  allowance.spend('a', 1)
  t.equal(allowance.isSpent('a'), true)
  t.equal(allowance.isSpent('b'), false, 'for itself')
  nowMs += 1_000
  t.equal(allowance.isSpent('a'), false)
  allowance.spend('a', 20)
  t.equal(allowance.isSpent('a'), true, '20 ms a second')
  allowance.spend('a', 60_000)
  nowMs += 7_000
  t.equal(allowance.isSpent('a'), true, 'what is used without an allowance counts, too')
  nowMs += 1_000
  t.equal(allowance.isSpent('a'), false, 'as far as is regained in some seconds')
})

t.test('it keeps no account of who has rested', async (t) => {
  let nowMs = 0
  const allowance = new ProcessorAllowance(() => nowMs)
  for (let i = 0; i < 1_000; i++) allowance.spend(`workspace ${i}`, 10)
  t.equal(allowance.size, 1_000)
  nowMs += 60_000
  allowance.spend('a', 10)
  t.equal(allowance.size, 1)
})
