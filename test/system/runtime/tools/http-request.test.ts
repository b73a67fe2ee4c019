import dns from 'node:dns'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { type AddressInfo, isIP } from 'node:net'
import { type Test, test } from 'tap'
import { parseInfrastructureRule } from '../../../../runtime/plugin/grants/net-rule.ts'

/** Answers of a name's server, one a query, the last one again and again. */
let answers: string[][] = []
let queries = 0
const { lookup: original } = dns
dns.lookup = ((...call: Parameters<typeof original>) => {
  // A server that listens asks for its address.
  if (isIP(call[0]) !== 0) return original(...call)
  const found = answers[Math.min(queries++, answers.length - 1)] ?? []
  const callback = call.at(-1) as unknown as (error: null, found: dns.LookupAddress[]) => void
  callback(
    null,
    found.map((address) => ({ address, family: 4 })),
  )
}) as unknown as typeof dns.lookup
syncBuiltinESMExports()
// It takes the system's lookup when it is loaded.
const { ForbiddenAddress } = await import('../../../../runtime/tools/connections.ts')
const { sendRequest } = await import('../../../../runtime/tools/http-request.ts')

test('an address of a name is asked for once, checked and the one connected to', async (t) => {
  t.teardown(() => {
    dns.lookup = original
    syncBuiltinESMExports()
  })
  const granted = await serve(t, '127.0.0.1', 0, 'granted')
  const inner = await serve(t, '127.0.0.2', granted.port, 'inner')
  const send = async (...resolved: string[][]) => {
    ;[answers, queries] = [resolved, 0]
    const outgoing = { method: 'GET', url: `http://rebound.example:${granted.port}/`, headers: {} } as const
    const allowed = [parseInfrastructureRule(`127.0.0.1:${granted.port}`)]
    return (await sendRequest(outgoing, { over: { allowed }, signal: AbortSignal.timeout(60_000) })).text
  }

  t.equal(await send(['127.0.0.1'], ['127.0.0.2']), 'granted', 'a name that leads elsewhere once it was checked')
  t.equal(queries, 1, 'nobody asks again')
  await t.rejects(send(['127.0.0.2'], ['127.0.0.1']), ForbiddenAddress)
  t.equal(await send(['127.0.0.2', '127.0.0.1', '127.0.0.2']), 'granted', 'of several the one that may be reached')
  for (const one of ['127.0.0.2', '10.0.0.1', '169.254.169.254', '0.0.0.0']) {
    await t.rejects(send([one]), ForbiddenAddress, one)
  }

  granted.redirect = `http://other.example:${granted.port}/`
  await t.rejects(send(['127.0.0.1'], ['127.0.0.2']), ForbiddenAddress, 'the name of a redirect is checked, too')
  t.equal(inner.requests, 0)
})

async function serve(t: Test, address: string, port: number, text: string) {
  const served = { port, requests: 0, redirect: '' }
  const server = createServer((_, response) => {
    served.requests++
    if (served.redirect !== '') response.writeHead(302, { location: served.redirect })
    response.end(text)
  })
  server.listen(port, address)
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  served.port = (server.address() as AddressInfo).port
  return served
}
