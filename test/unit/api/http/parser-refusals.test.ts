import t from 'tap'
import { startServer } from '../../../../api/http/server.ts'
import { openRaw } from '../../../support/world/raw-http.ts'

t.test('what the HTTP parser refuses is answered with its own page, and the connection closed', async (t) => {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: (incoming) => incoming.send({ status: 200, headers: [] }),
    webSockets: [],
    refuse: () => ({ status: 401, headers: [] }),
    requestId: () => 'id',
  })
  t.teardown(() => server.close(0))
  const many = Array.from({ length: 200 }, (_, i) => `x-${i}: 1\r\n`).join('')
  for (const [request, status] of [
    ['GET /health HTTP/1.0\r\n\r\n', 505],
    ['GET /health\r\n\r\n', 505],
    ['GET /health HTTP/1.1\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\nhost: x\r\n${many}\r\n`, 431],
    [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    const connection = await openRaw(`http://127.0.0.1:${server.port}`)
    connection.write(request)
    const [head = '', body = ''] = (await connection.closed()).split('\r\n\r\n')
    const what = request.slice(0, 40)
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), what)
    t.match(body, /^<h1>/, what)
  }
})

t.test('headers of up to 16 KiB get in, as the cookies of a browser may take', async (t) => {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    handle: (incoming) => incoming.send({ status: 200, headers: [], body: String(incoming.header('x').length) }),
    webSockets: [],
    refuse: () => ({ status: 401, headers: [] }),
    requestId: () => 'id',
  })
  t.teardown(() => server.close(0))
  const response = await fetch(`http://127.0.0.1:${server.port}/`, { headers: { x: 'y'.repeat(15_000) } })
  t.equal(response.status, 200)
  t.equal(await response.text(), '15000')
})
