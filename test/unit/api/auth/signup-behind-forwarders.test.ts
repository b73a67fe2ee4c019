import { once } from 'node:events'
import { createServer, request } from 'node:http'
import t from 'tap'
import { setupToken } from '../../../../api/auth/setup-token.ts'
import { ApiClient, startTestApi } from '../../../support/instance/api.ts'
import { startFaultProxy } from '../../../support/world/fault-proxy.ts'

const EVE = { name: 'Eve', email: 'eve@example.com', password: 'correct horse', phone_number: '+14155550123' }

/** As nginx does with a bare `proxy_pass`: its own Host, and no header that tells of the client. */
async function rewritingProxy(t: { teardown(end: () => void): void }, port: number): Promise<number> {
  const server = createServer((incoming, answer) => {
    const headers = { ...incoming.headers, host: `127.0.0.1:${port}` }
    const outgoing = request(
      { port, host: '127.0.0.1', method: incoming.method, path: incoming.url, headers },
      (from) => {
        answer.writeHead(from.statusCode ?? 500, from.headers)
        from.pipe(answer)
      },
    )
    incoming.pipe(outgoing)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as { port: number }).port
}

t.test('with a public address nobody is on this very machine, whatever a forwarder makes of the request', async (t) => {
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'https://voice.example.com' } })
  const port = Number(new URL(api.url).port)
  const forwarder = await startFaultProxy(t, { port })
  const ports = [forwarder.port, await rewritingProxy(t, port), port]
  for (const at of ports) {
    const client = new ApiClient(`http://127.0.0.1:${at}`)
    t.same((await client.get('/auth/signup')).body, { open: false, setup_token: true, sso: null, first: true })
    const refused = await client.post('/auth/signup', { body: EVE })
    t.same([refused.status, refused.body.detail.slice(0, 14)], [403, 'The first user'])
  }
  const client = new ApiClient(`http://127.0.0.1:${forwarder.port}`)
  const setup_token = setupToken(api.config.jwtApiSecret)
  t.equal((await client.post('/auth/signup', { body: { ...EVE, setup_token } })).status, 201)
  await client.post('/auth/login', { body: EVE })
  const settings = await client.get('/operator/settings')
  t.match(settings.body, { signup: null, effective_signup: 'invitation' }, 'with the token they run it')
  const second = await client.post('/auth/signup', { body: { ...EVE, email: 'second@example.com' } })
  t.equal(second.status, 403, 'and the next one needs an invitation')
})

t.test('the setup token can’t be guessed at for ever', async (t) => {
  const api = await startTestApi(t, { env: { PUBLIC_URL: 'https://voice.example.com' } })
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) {
    statuses.push((await api.client().post('/auth/signup', { body: { ...EVE, setup_token: `guess ${i}` } })).status)
  }
  t.same([statuses[0], statuses.at(-1)], [403, 429])
})

for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080', undefined]) {
  t.test(`with ${url ?? 'no public address'} the first user signs up on the machine itself`, async (t) => {
    const api = await startTestApi(t, { env: url === undefined ? {} : { PUBLIC_URL: url } })
    t.equal((await api.client().post('/auth/signup', { body: EVE })).status, 201)
  })
}
