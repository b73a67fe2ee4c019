import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pino } from 'pino'
import { test } from 'tap'
import { loadPlugins, ROOT } from '../../../../runtime/plugin/host.ts'

/** The fenced blocks of docs/plugins.md that name a file, by that file. */
function examples(): [path: string, source: string][] {
  const docs = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8')
  const found = docs.matchAll(/<!-- example: (\S+) -->\n```\w+\n(.*?)```/gs)
  return [...found].map(([, path = '', source = '']) => [path, source])
}

test('the plugin of docs/plugins.md runs as written', async (t) => {
  const root = t.testdir({})
  for (const [path, source] of examples()) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), source.replace('../../runtime/', `${ROOT}/runtime/`))
  }
  const server = http.createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    const known = request.headers.authorization === 'Bearer k-1' && request.url === '/v1/embeddings'
    const vectors = body.texts.map((item: string) => [item.length, body.model.length, 0])
    response.writeHead(known ? 200 : 401).end(JSON.stringify({ vectors }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`

  const load = (env: Record<string, string>) =>
    loadPlugins({
      dir: join(root, 'plugins'),
      settingsFile: join(root, 'config/plugins.json'),
      config: {},
      env,
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal,
    })
  const registry = await load({ ACME_API_KEY: 'k-1', ACME_BASE_URL: base })
  t.same([...registry.catalogue.embedding.keys()], ['acme'])
  const embedding = await registry.create('embedding', 'acme')
  t.same(await embedding.embed(['hello', 'hi'], new AbortController().signal), [
    Float32Array.of(5, 5, 0),
    Float32Array.of(2, 5, 0),
  ])

  const elsewhere = await (await load({ ACME_API_KEY: 'k-1' })).create('embedding', 'acme', { model: 'large' })
  const timeout = AbortSignal.abort(new Error('reached the network'))
  await t.rejects(elsewhere.embed(['x'], timeout), { message: 'reached the network' })
})
