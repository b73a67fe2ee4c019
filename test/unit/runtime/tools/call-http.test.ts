import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Test, test } from 'tap'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'
import { callHttp } from '../../../../runtime/tools/call-http.ts'
import type { HttpRequest } from '../../../../runtime/tools/tool.ts'

interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

/** A server on a free port of this machine that keeps what it was asked. */
async function serve(t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { seen, port, url: `http://localhost:${port}` }
}

const http = (request: Partial<HttpRequest> & { url: string }): HttpRequest => ({
  method: 'GET',
  headers: {},
  timeoutMs: 60_000,
  ...request,
})

/** The schema names the arguments that are given, unless `named` are others. */
const call = (
  request: HttpRequest,
  allow: string[],
  input: Record<string, unknown> = {},
  variables = {},
  named: readonly string[] = Object.keys(input),
) =>
  callHttp(
    request,
    {
      input,
      parameters: { type: 'object', properties: Object.fromEntries(named.map((name) => [name, {}])) },
      variables,
    },
    { allowed: allow.map(parseInfrastructureRule), signal: new AbortController().signal },
  )

test('a request is filled with arguments and variables, sent, and its answer handed over', async (t) => {
  const { seen, url, port } = await serve(t, (_, response) => response.end('{"status":"shipped"}'))
  const request = http({
    method: 'POST',
    url: `${url}/orders/{{order_id}}`,
    headers: { Authorization: 'Bearer {{token}}', 'X-Plain': 'yes' },
    body: { id: '{{order_id}}', count: '{{count}}' },
  })
  const result = await call(request, [`localhost:${port}`], { order_id: 'A 1', count: 2 }, { token: 'secret' })
  t.same(result, { output: '{"status":"shipped"}' })
  t.match(seen, [
    {
      method: 'POST',
      url: '/orders/A%201',
      headers: { authorization: 'Bearer secret', 'x-plain': 'yes', 'content-type': 'application/json' },
      body: '{"id":"A 1","count":2}',
    },
  ])
})

test('an argument stands only where the schema names it; elsewhere the variable of the call does', async (t) => {
  const { seen, url, port } = await serve(t, (_, response) => response.end('ok'))
  const request = http({
    method: 'POST',
    url: `${url}/customers/{{customer_id}}/orders/{{order}}`,
    headers: { 'X-Customer': '{{customer_id}}' },
    body: { customer: '{{customer_id}}', order: '{{order}}', note: 'of {{customer_id}}', none: '{{nobody}}' },
  })
  const given = { customer_id: 'VICTIM', order: '7', nobody: 'VICTIM' }
  await call(request, [`localhost:${port}`], given, { customer_id: 'MINE', order: '1' }, ['order'])
  t.match(seen[0], {
    url: '/customers/MINE/orders/7',
    headers: { 'x-customer': 'MINE' },
    body: '{"customer":"MINE","order":"7","note":"of MINE","none":null}',
  })
  await call(request, [`localhost:${port}`], {}, { customer_id: 'MINE', order: '1' }, ['order'])
  t.equal(seen[1]?.url, '/customers/MINE/orders/1', 'an argument that was left out is the variable')
})

test('no address of this machine or its network is reached, by name, by number or in any spelling', async (t) => {
  const { seen, port } = await serve(t, (_, response) => response.end('inside'))
  const hosts = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '127.1', '0.0.0.0']
  for (const host of [...hosts, '169.254.169.254', '10.0.0.1', 'metadata.localhost']) {
    const { output, fault } = await call(http({ url: `http://${host}:${port}/`, timeoutMs: 60_000 }), [])
    t.notMatch(output, 'inside', host)
    t.ok(fault !== undefined, `${host}: ${fault}`)
    t.notMatch(`${output} ${fault}`, /127\.0\.0|public address|localhost/, `${host}: nothing of the network is told`)
  }
  t.same(seen, [])
})

test('an exception of the operator holds for its port alone', async (t) => {
  const one = await serve(t, (_, response) => response.end('one'))
  const two = await serve(t, (_, response) => response.end('two'))
  t.same(await call(http({ url: one.url }), [`localhost:${one.port}`]), { output: 'one' })
  t.same(await call(http({ url: `http://127.0.0.1:${one.port}` }), ['127.0.0.0/8']), { output: 'one' })
  t.match(await call(http({ url: two.url }), [`localhost:${one.port}`]), {
    output: 'The request failed: the server could not be reached',
    reason: /is no public address; PATCHBAY_TOOLS_ALLOW_NET can allow it/,
  })
})

test('a redirect is checked like the first address, and other origins get no secret', async (t) => {
  const inside = await serve(t, (_, response) => response.end('inside'))
  const other = await serve(t, (_, response) => response.end('other'))
  const outside = await serve(t, (request, response) => {
    const to = request.url === '/in' ? `http://127.0.0.1:${inside.port}/` : `http://localhost:${other.port}/there`
    response.writeHead(307, { location: request.url === '/file' ? 'file:///etc/passwd' : to }).end()
  })
  const allow = [`localhost:${outside.port}`, `localhost:${other.port}`]
  const headers = { Authorization: 'Bearer secret' }
  t.match(await call(http({ url: `${outside.url}/in`, headers }), allow), {
    output: 'The request failed: the server could not be reached',
    reason: /is no public address; PATCHBAY_TOOLS_ALLOW_NET can allow it/,
  })
  t.same(inside.seen, [])
  t.same(await call(http({ url: `${outside.url}/out`, headers }), allow), { output: 'other' })
  t.equal(other.seen[0]?.headers.authorization, undefined)
  t.match((await call(http({ url: `${outside.url}/file` }), allow)).fault, /file:/)
  const loop = await serve(t, (_, response) => response.writeHead(302, { location: '/' }).end())
  t.match(await call(http({ url: loop.url }), [`localhost:${loop.port}`]), { fault: 'status 302' })
})

test('a host that nobody knows and one that is forbidden are told alike, but to the operator', async (t) => {
  const { reason: whyForbidden, ...forbidden } = await call(http({ url: 'http://127.0.0.1:9/', timeoutMs: 60_000 }), [])
  const { reason: whyUnknown, ...unknown } = await call(http({ url: 'http://nobody.invalid/', timeoutMs: 60_000 }), [])
  t.same(forbidden, unknown)
  t.match(whyForbidden, /127\.0\.0\.1 is no public address/)
  t.match(whyUnknown, /nobody\.invalid/)
})

test('half an answer is no answer', async (t) => {
  const { url, port } = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half of')
    if (request.url === '/cut') setImmediate(() => response.destroy())
  })
  const at = (path: string, timeoutMs: number) => call(http({ url: url + path, timeoutMs }), [`localhost:${port}`])
  t.match(await at('/cut', 60_000), { output: /^The request failed/, fault: /.+/ })
  t.match(await at('/drip', 300), { output: 'The request failed: no answer within 300 ms' })
})

test('a slow, broken, huge or unwilling server ends with words for the model and the operator', async (t) => {
  const { url, port } = await serve(t, (request, response) => {
    if (request.url === '/slow') return
    if (request.url === '/break') response.destroy()
    else if (request.url === '/huge') response.end('x'.repeat(10_000_000))
    else response.writeHead(404).end('no such order')
  })
  const at = (path: string, timeoutMs = 60_000) => call(http({ url: url + path, timeoutMs }), [`localhost:${port}`])
  t.same(await at('/slow', 200), {
    output: 'The request failed: no answer within 200 ms',
    fault: 'no answer within 200 ms',
  })
  t.match(await at('/break'), { output: /could not be reached/, fault: 'ECONNRESET' })
  t.same(await at('/gone'), { output: 'The request failed with status 404: no such order', fault: 'status 404' })
  t.match((await at('/huge')).output, /^x{8000}…\n\[Cut after 8000 characters; the rest is missing\.\]$/)
})

test('JSON that is too long for a model is said to be cut, and what fits is JSON to its end', async (t) => {
  const orders = (count: number) => JSON.stringify({ orders: Array.from({ length: count }, (_, i) => `order "${i}"`) })
  const { url, port } = await serve(t, (request, response) => response.end(orders(Number(request.url?.slice(1)))))
  const { output: long } = await call(http({ url: `${url}/60000` }), [`localhost:${port}`])
  t.ok(long.startsWith(orders(60_000).slice(0, 8_000)))
  t.equal(long.slice(8_000), '…\n[Cut after 8000 characters; the rest is missing.]')
  const { output: short } = await call(http({ url: `${url}/300` }), [`localhost:${port}`])
  t.equal(JSON.parse(short).orders.length, 300)
})

test('an answer is clean, and a cut parts no pair', async (t) => {
  const thumb = '\ud83d\udc4d'
  for (const [said, wanted] of [
    [`${'x'.repeat(7_999)}${thumb}`, `${'x'.repeat(7_999)}…\n[Cut after 8000 characters; the rest is missing.]`],
    [
      `${'x'.repeat(7_998)}${thumb}y`,
      `${'x'.repeat(7_998)}${thumb}…\n[Cut after 8000 characters; the rest is missing.]`,
    ],
    ['a\0b', 'ab'],
  ] as const) {
    const { url, port } = await serve(t, (_, response) => response.end(said))
    t.same(await call(http({ url }), [`localhost:${port}`]), { output: wanted })
  }
  const { url, port } = await serve(t, (_, response) => response.writeHead(500).end(`${'x'.repeat(499)}${thumb}`))
  const { output } = await call(http({ url }), [`localhost:${port}`])
  t.equal(output, `The request failed with status 500: ${'x'.repeat(499)}…`)
})
