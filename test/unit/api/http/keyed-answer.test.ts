import t from 'tap'
import type { HandledRequest } from '../../../../api/http/handled-request.ts'
import { keyedAnswer } from '../../../../api/http/keyed-answer.ts'
import type { KeyShelf } from '../../../../store/database/idempotency.ts'

t.test('a request under way at another node is waited for, whatever the clock of this machine says', async (t) => {
  const BEGUN_MS = 1_000_000
  let asked = 0
  const row = { requestHash: Buffer.alloc(0) as Buffer, answer: '' }
  const shelf: KeyShelf = {
    name: 'workspace a',
    async find() {
      if (row.answer === '') return undefined
      const { requestHash, answer } = row
      return { requestHash, answer: asked++ === 0 ? null : answer, effectId: null, createdAt: new Date(BEGUN_MS) }
    },
    async claim(_key, requestHash) {
      row.requestHash = requestHash
      return true
    },
    async keep(_key, answer) {
      row.answer = answer
    },
    async drop() {
      t.fail('nothing was refused')
    },
  }
  const request = { id: 'r', log: { error: t.fail }, answeredBefore: () => {} } as unknown as HandledRequest
  const clock = { nowMs: () => BEGUN_MS + 1_000 }
  const keyed = { key: 'k', shelf, input: { path: '/agents' }, keys: { dataKey: 'd'.repeat(32) }, clock }
  let handled = 0
  const ask = () => keyedAnswer(request, keyed, async () => ({ status: 201, headers: [], body: `"${++handled}"` }))
  t.match(await ask(), { status: 201, body: '"1"' })
  t.match(await ask(), { status: 201, body: '"1"' })
  t.equal(asked, 2, 'the second looked twice')
})
