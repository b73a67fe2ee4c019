import t from 'tap'
import { startServer } from '../../../../api/http/server.ts'
import { overwritten } from '../../../../api/http/server-library.ts'
import { openRaw } from '../../../support/world/raw-http.ts'

t.test('what the HTTP parser refuses is answered in JSON, as every error is', async (t) => {
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
  for (const [request, status, detail] of [
    ['GET /health HTTP/1.0\r\n\r\n', 505, 'HTTP version not supported'],
    ['GET /health\r\n\r\n', 505, 'HTTP version not supported'],
    ['GET /health HTTP/1.1\r\n\r\n', 400, 'Malformed request'],
    ['GET / HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n', 400, 'Malformed request'],
    [`GET / HTTP/1.1\r\nhost: x\r\n${many}\r\n`, 431, 'Request headers too large'],
    [`GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431, 'Request headers too large'],
  ] as const) {
    const connection = await openRaw(`http://127.0.0.1:${server.port}`)
    connection.write(request)
    const answer = await connection.closed()
    const [head = '', body = ''] = answer.split('\r\n\r\n')
    const what = request.slice(0, 40)
    t.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), what)
    t.match(head, /content-type: ?application\/json/i, what)
    t.same(JSON.parse(body), { detail }, what)
  }
})

t.test('a library without those pages is left alone, and none becomes longer', (t) => {
  t.equal(overwritten(Buffer.from('another library')), undefined)
  const page =
    'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n<h1>Bad Request</h1><hr><i>uWebSockets/20 Server</i>'
  const library = Buffer.from(`\0before\0${page}\0after\0`, 'latin1')
  const own = overwritten(library)
  t.equal(own?.length, library.length)
  t.match(own?.toString('latin1'), /^\0before\0HTTP\/1\.1 400 \r\n[^\0]*\{"detail":"Malformed request"\} *\0after\0$/)
  t.end()
})
