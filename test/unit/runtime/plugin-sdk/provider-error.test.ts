import t from 'tap'
import { explainFailure, ProviderError, type ProviderFault } from '../../../../runtime/plugin-sdk/provider-error.ts'

const ACME = { title: 'Acme', keyVariable: 'ACME_API_KEY' }

t.test('failures of any client are judged by status, code and words', async (t) => {
  const cases: [error: unknown, fault: ProviderFault, retryable: boolean][] = [
    [{ status: 401, message: 'nope' }, 'authentication', false],
    [{ statusCode: 403 }, 'authentication', false],
    [new Error('Unexpected server response: 401'), 'authentication', false],
    [{ status: 400, code: 'invalid_api_key' }, 'authentication', false],
    [{ status: 429, message: 'Slow down' }, 'rate_limit', true],
    [{ status: 429, code: 'insufficient_quota' }, 'quota', false],
    [{ status: 402 }, 'quota', false],
    [{ code: 'quota_exceeded' }, 'quota', false],
    [{ status: 422, message: 'No such model' }, 'bad_request', false],
    [{ status: 503 }, 'transient', true],
    [{ status: 500, message: 'billing database is down' }, 'transient', true],
    [new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) }), 'transient', true],
    [new DOMException('late', 'TimeoutError'), 'transient', true],
    ['something else', 'transient', true],
    [undefined, 'transient', true],
  ]
  for (const [error, fault, retryable] of cases) {
    const failure = explainFailure(ACME, error)
    t.match(failure, { fault, retryable }, failure.message)
    t.ok(failure.message.startsWith('Acme '))
  }
})

t.test('the sentence says what to do', async (t) => {
  t.equal(
    explainFailure(ACME, { status: 401 }).message,
    'Acme refused the key (401); check ACME_API_KEY and what it may be used for',
  )
  t.equal(explainFailure(ACME, { code: 'ETIMEDOUT' }).message, 'Acme did not answer in time')
  t.equal(explainFailure(ACME, { code: 'ENOTFOUND' }).message, 'Acme could not be reached or broke off (ENOTFOUND)')
  t.equal(
    explainFailure(ACME, { status: 404, message: '404 The model `x` does not exist.' }).message,
    'Acme refused the request (404): The model `x` does not exist.',
  )
})

t.test('what a server quotes of a request or a key stays out of the sentence', async (t) => {
  const { message } = explainFailure(ACME, {
    status: 400,
    message: 'Wrong key sk-proj-abcdef123456, input [{"role":"user","content":"my secret"}]',
  })
  t.equal(message, 'Acme refused the request (400): Wrong key …, input …')
  t.ok(explainFailure(ACME, { status: 400, message: 'x'.repeat(5_000) }).message.length < 250)
})

t.test('a failure that was judged keeps its judgement, however deep it lies', async (t) => {
  const failure = explainFailure(ACME, { status: 402 })
  const wrapped = new Error('outer', { cause: new Error('middle', { cause: new ProviderError(failure) }) })
  t.equal(explainFailure({ title: 'Other' }, wrapped), failure)
})

t.test('the reason a provider gave is kept, whatever it begins with', async (t) => {
  const reason = (message: string) =>
    explainFailure(ACME, { status: 400, message }).message.replace('Acme refused the request (400): ', '')
  t.equal(reason("[] is too short - 'tools'"), "[] is too short - 'tools'")
  t.equal(reason("Invalid 'tools': empty array."), "Invalid 'tools': empty array.")
  t.equal(reason('body -> ["messages", 0]: Field required'), 'body -> ["messages", 0]: Field required')
  t.equal(
    reason(
      "[{'type': 'string_too_short', 'loc': ('body', 'input'), 'msg': 'String should have at least 1 character', 'input': ''}]",
    ),
    'String should have at least 1 character',
  )
  t.equal(
    reason("1 validation error\nmessages.0\n  Field required [type=missing, input_value={'content': 'my secret'}]"),
    '1 validation error messages.0 Field required …',
  )
  t.equal(reason('Invalid value: "my little secret". Expected one of a, b'), 'Invalid value: …. Expected one of a, b')
  t.equal(reason("We couldn't parse what you didn't send"), "We couldn't parse what you didn't send")
  t.equal(
    reason('Voice f786b574-daa5-4673-aa0c-cbe3e8534c02 is unknown'),
    'Voice f786b574-daa5-4673-aa0c-cbe3e8534c02 is unknown',
  )
  t.equal(reason('Key 0123456789abcdef0123456789abcdef has no rights'), 'Key … has no rights')
  t.equal(reason('{"role":"user","content":"my secret'), 'it gave no reason')
})
