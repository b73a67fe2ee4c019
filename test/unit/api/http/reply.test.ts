import { pino } from 'pino'
import t from 'tap'
import { errorReply } from '../../../../api/http/reply.ts'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { explainStatus, ProviderError } from '../../../../runtime/plugin-sdk/provider-error.ts'

const log = pino({ level: 'silent' })
const headersOf = (error: unknown): Record<string, string> => Object.fromEntries(errorReply(error, 'r1', log).headers)

t.test('who finds no room is told when to ask again, by the error where it knows better', async (t) => {
  const full = errorReply(new PatchbayError('unavailable'), 'r1', log)
  t.equal(full.status, 503)
  t.match(JSON.parse(String(full.body)), { detail: String })
  t.match(headersOf(new PatchbayError('unavailable')), { 'retry-after': '1', 'x-request-id': 'r1' })
  t.match(headersOf(new PatchbayError('unavailable', { headers: { 'retry-after': '7' } })), { 'retry-after': '7' })
  t.notOk('retry-after' in headersOf(new PatchbayError('not_a_member')), 'waiting opens no workspace')
})

t.test('a database that is away is a 500 that says when to ask again', async (t) => {
  const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' })
  const answer = errorReply(away, 'r1', log)
  t.match(answer, { status: 500 })
  t.match(JSON.parse(String(answer.body)), { detail: 'Internal server error' })
  t.match(headersOf(away), { 'retry-after': '1' })
  const defect = errorReply(new Error('a defect'), 'r1', log)
  t.match(defect, { status: 500 })
  t.notOk('retry-after' in headersOf(new Error('a defect')))
})

t.test(
  'a service that refuses the key of the installation is a 503 with the reason, and its cure stays in the log',
  async (t) => {
    const failure = explainStatus({ title: 'Qdrant', keyVariable: 'QDRANT_API_KEY' }, 401, 'Must provide an API key')
    const answer = errorReply(new ProviderError(failure), 'r1', log)
    t.equal(answer.status, 503)
    t.match(JSON.parse(answer.body), {
      code: 'unavailable',
      detail: 'Service unavailable: Qdrant refused the key (401)',
    })
    t.notMatch(answer.body, 'QDRANT_API_KEY')
    const refused = explainStatus({ title: 'Qdrant', keyVariable: 'QDRANT_API_KEY' }, 400, 'Wrong vector')
    t.match(
      errorReply(new ProviderError(refused), 'r1', log),
      { status: 500 },
      'a request of ours that is wrong is a defect',
    )
  },
)
