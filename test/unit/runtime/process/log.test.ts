import t from 'tap'
import { CENSORED, createLogger } from '../../../../runtime/process/log.ts'

function capture(level = 'info') {
  const lines: Record<string, unknown>[] = []
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) }
  return { lines, log: createLogger({ level, name: 'test', destination }) }
}

t.test('a line is JSON with its level by name and an ISO time', async (t) => {
  const { lines, log } = capture()
  log.info({ port: 1 }, 'hello')
  t.match(lines, [{ level: 'info', name: 'test', msg: 'hello', port: 1, time: /^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/ }])
})

t.test('a level that is a function is asked at each line, also by loggers that were made before', async (t) => {
  const lines: string[] = []
  let level = 'info'
  const log = createLogger({
    level: () => level,
    name: 'test',
    destination: { write: (line) => void lines.push(line) },
  })
  const child = log.child({ part: 'x' })
  child.debug('unheard')
  level = 'debug'
  child.debug('heard')
  log.debug('heard')
  level = 'silent'
  child.fatal('unheard')
  t.equal(lines.length, 2)
  t.notMatch(lines.join(), 'unheard')
})

t.test('credentials do not reach the log at any depth', async (t) => {
  const { lines, log } = capture()
  const headers = { Authorization: 'Bearer s3cret', cookie: 's3cret', 'x-api-key': 's3cret', accept: '*/*' }
  log.info({ request: { headers }, body: [{ password: 's3cret', refresh_token: 's3cret', jwtSecret: 's3cret' }] })
  log.child({ part: 'x' }).info({ databaseUrl: 'postgres://user:s3cret@host/db' })
  t.notMatch(JSON.stringify(lines), 's3cret')
  t.match(lines[0], { request: { headers: { Authorization: CENSORED, accept: '*/*' } } })
  t.equal(lines[1]?.databaseUrl, 'postgres://***@host/db')
})

t.test('an error keeps its message, stack and cause and loses its credentials', async (t) => {
  const { lines, log } = capture()
  const err = Object.assign(new Error('no', { cause: new Error('because') }), { headers: { authorization: 's3cret' } })
  log.error({ err }, 'failed')
  t.match(lines[0], { level: 'error', err: { message: /no/, stack: /because/ } })
  t.notMatch(JSON.stringify(lines), 's3cret')
})

t.test('counts of tokens are no credentials', async (t) => {
  const { lines, log } = capture()
  log.info({ llmInputTokens: 12 })
  t.equal(lines[0]?.llmInputTokens, 12)
})

t.test('a record that refers to itself is cut off, not followed', async (t) => {
  const { lines, log } = capture()
  const loop: Record<string, unknown> = {}
  loop.self = loop
  log.info({ loop })
  t.equal(lines.length, 1)
})

t.test(
  'user and password of URLs and phone numbers do not reach the log, in messages and errors neither',
  async (t) => {
    const { lines, log } = capture()
    const url = 'https://s3cret@otlp.example/v1'
    log.warn(
      { err: new Error(`no ${url}`), to: '+14155550100', uri: 'sip:+14155550100@h' },
      `Asked ${url} for +14155550100`,
    )
    log.info(`Again ${url}`)
    t.notMatch(JSON.stringify(lines), /s3cret|415555/)
    t.match(lines[0], { to: '+…0100', uri: 'sip:+…0100@h', msg: 'Asked https://***@otlp.example/v1 for +…0100' })
  },
)
