import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { type Test, test } from 'tap'
import { WebSocketServer } from 'ws'
import { ROOT } from '../../../runtime/plugin/host.ts'

const DOCS = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8')
const TIMEOUT_MS = 240_000

interface Place {
  folder: string
  /** A line of the docs, as it is printed. */
  type(line: string): Promise<string>
}

function place(t: Test, env: Record<string, string> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-docs-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // What one command compiled, the next need not: a new HOME has nothing.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const variables = { PATH, NODE_COMPILE_CACHE, HOME: folder, PATCHBAY_DATA_DIR: join(folder, 'data'), ...env }
  return {
    folder,
    async type(line) {
      // What npm does with it, in a folder of the reader's.
      const [command = '', ...words] = line.replace(/ +#.*/, '').split(' ')
      if (command !== 'npm' || words[1] !== 'patchbay') throw new Error(`The docs print "${line}"`)
      const args = words.slice(2).filter((word) => word !== '--')
      const options = { cwd: folder, env: variables, timeout: TIMEOUT_MS }
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(ROOT, 'main.ts'), ...args], options)
      return stdout + stderr
    },
  }
}

test('the commands that make a plugin work as printed, for each kind', async (t) => {
  const block = /<!-- commands: a plugin -->\n```sh\n(.*?)```/s.exec(DOCS)?.[1] ?? ''
  const lines = block.trim().split('\n')
  t.equal(lines.length, 3)
  await Promise.all(
    ['llm', 'stt', 'tts', 'embedding', 'tools'].map(async (kind) => {
      const { type } = place(t)
      let said = ''
      for (const line of lines) said = await type(line.replace(' llm ', ` ${kind} `))
      t.match(said, new RegExp(`^ok +${kind}: `, 'm'), kind)
    }),
  )
})

test('the plugin of a provider runs as printed', async (t) => {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse((await text(request)) || '{}')
    asked.push(`${request.url} ${request.headers.authorization}`)
    if (request.url === '/chat') {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const data of [{ text: 'Hel' }, { text: 'lo.' }, { tokens: { read: 5, written: 2 } }]) {
        response.write(`data: ${JSON.stringify(data)}\n\n`)
      }
      response.end()
    } else if (request.url === '/speech') {
      const audio = Buffer.alloc(2 * body.rate, 1)
      response.write(audio.subarray(0, 1001))
      response.end(audio.subarray(1001))
    } else response.writeHead(200).end('{}')
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket, request) => {
    asked.push(String(request.url))
    socket.on('message', (message, isBinary) => {
      if (isBinary) return
      socket.send(JSON.stringify({ text: String(message) === 'end' ? 'hello there' : '', final: true, from: 0, to: 1 }))
      socket.close(1000)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { folder, type } = place(t, { ACME_KEY: 'k-1', ACME_URL: url })
  const files = [...DOCS.matchAll(/<!-- plugin: (\S+) -->\n```\w+\n(.*?)```/gs)]
  t.equal(files.length, 2)
  for (const [, path = '', source = ''] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), source)
  }
  const said = await type('npm run patchbay plugins add ./acme-voice -- --grant=all')
  t.match(said, /ok +llm: answered "Hello\."/)
  t.match(said, /ok +tts: spoke for 1\.0 s/)
  t.match(said, /ok +stt: took a second of silence/)
  t.ok(asked.includes('/chat Bearer k-1'))
  t.ok(asked.some((line) => line.startsWith('/listen?language=en&key=k-1')))
})
