import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import t from 'tap'
import { openConsole } from '../../../api/console/console.ts'
import type { HttpResponse, Incoming } from '../../../api/http/server.ts'
import { createLogger } from '../../../runtime/process/log.ts'
import { testFolder } from '../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })

/** Asks as a browser does; undefined: the request is for the API. */
function ask(
  serve: ReturnType<typeof openConsole>,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
) {
  let answer: HttpResponse | undefined
  const incoming = {
    method,
    path,
    header: (name: string) => headers[name] ?? '',
    send: (outgoing: HttpResponse) => {
      answer = outgoing
    },
  }
  return serve(incoming as Incoming) ? answer : undefined
}

const headerOf = (answer: HttpResponse | undefined, name: string) =>
  answer?.headers.find(([said]) => said === name)?.[1]

t.test('the console', async (t) => {
  const folder = await testFolder(t)
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), '<p>the console</p>')
  await writeFile(join(folder, 'assets/main-abc.js'), 'go()')
  await writeFile(join(folder, 'assets/main-abc.js.br'), brotliCompressSync('go()'))
  await writeFile(join(folder, 'assets/inter-abc.woff2'), 'wOF2')
  const built = Promise.withResolvers<string>()
  const serve = openConsole(built.promise, log)

  t.test('says that it is being built, and leaves the API alone', (t) => {
    const answer = ask(serve, '/')
    t.equal(answer?.status, 503)
    t.equal(headerOf(answer, 'refresh'), '1', 'the page comes by itself')
    t.equal(ask(serve, '/agents'), undefined)
    t.equal(ask(serve, '/consoles'), undefined)
    t.equal(ask(serve, '/console/', {}, 'POST'), undefined)
    t.end()
  })

  built.resolve(folder)
  while (ask(serve, '/')?.status === 503) await new Promise((resolve) => setTimeout(resolve, 5))

  t.test('stands at / and at every address of its own', (t) => {
    for (const path of ['/', '/console', '/console/', '/console/calls/some-id']) {
      const answer = ask(serve, path)
      t.equal(String(answer?.body), '<p>the console</p>', path)
      t.equal(headerOf(answer, 'cache-control'), 'no-cache')
      t.match(headerOf(answer, 'content-security-policy'), /default-src 'none'; script-src 'self';/)
      t.match(headerOf(answer, 'content-security-policy'), "; font-src 'self';")
    }
    t.end()
  })

  t.test('sends its type face as one', (t) => {
    const answer = ask(serve, '/console/assets/inter-abc.woff2', { 'accept-encoding': 'br' })
    t.equal(headerOf(answer, 'content-type'), 'font/woff2')
    t.equal(String(answer?.body), 'wOF2')
    t.end()
  })

  t.test('sends what the browser has not, compressed where it may', (t) => {
    const path = '/console/assets/main-abc.js'
    const plain = ask(serve, path)
    t.equal(String(plain?.body), 'go()')
    t.match(headerOf(plain, 'cache-control'), /immutable/)
    const compressed = ask(serve, path, { 'accept-encoding': 'gzip, deflate, br' })
    t.equal(headerOf(compressed, 'content-encoding'), 'br')
    t.equal(String(brotliDecompressSync(compressed?.body as Buffer)), 'go()')
    const known = ask(serve, path, { 'if-none-match': headerOf(plain, 'etag') ?? '' })
    t.equal(known?.status, 304)
    t.equal(known?.body, undefined)
    t.equal(ask(serve, '/console/assets/main-old.js')?.status, 404, 'a file of another build is not the page')
    t.end()
  })

  t.test('says that it could not be built, and to strangers not why', async (t) => {
    const broken = openConsole(Promise.reject(new Error('packages <are> missing')), log)
    while (headerOf(ask(broken, '/'), 'refresh')) await new Promise((resolve) => setTimeout(resolve, 5))
    const body = String(ask(broken, '/')?.body)
    t.match(body, /its build failed/)
    t.notMatch(body, /missing/, 'why is in the log, for the operator')
  })
})
