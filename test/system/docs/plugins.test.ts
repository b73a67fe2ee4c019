import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
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
import { finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const DOCS = readFileSync(join(ROOT, 'docs/plugins.md'), 'utf8')
const TIMEOUT_MS = 240_000

interface Place {
  folder: string
  dataDir: string
  /** A line of the docs, as it is printed. */
  type(line: string, more?: Record<string, string>): Promise<string>
}

function place(t: Test, env: Record<string, string> = {}): Place {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-docs-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  // What one command compiled, the next need not: a new HOME has nothing.
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const dataDir = join(folder, 'data')
  const variables = { PATH, NODE_COMPILE_CACHE, HOME: folder, PATCHBAY_DATA_DIR: dataDir, ...env }
  return {
    folder,
    dataDir,
    async type(line, more = {}) {
      // What npm does with it, in a folder of the reader's.
      const [command = '', ...words] = line.replace(/ +#.*/, '').split(' ')
      if (command !== 'npm' || words[1] !== 'patchbay') throw new Error(`The docs print "${line}"`)
      const args = words.slice(2).filter((word) => word !== '--')
      const options = { cwd: folder, env: { ...variables, ...more }, timeout: TIMEOUT_MS }
      const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(ROOT, 'main.ts'), ...args], options)
      return stdout + stderr
    },
  }
}

const linesOf = (block: string): string[] => {
  const [, text = ''] = new RegExp(`<!-- commands: ${block} -->\\n\`\`\`sh\\n(.*?)\`\`\``, 's').exec(DOCS) ?? []
  return text.trim().split('\n')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The lines that make a carrier, typed in one shell: what its stand-in printed. */
async function makeCarrier(t: Test, { folder, type }: Place, env: Record<string, string>): Promise<string[]> {
  const port = String(await freePort())
  const printed: string[] = []
  let said = ''
  for (const line of linesOf('a carrier').map((line) => line.replace('4020', port))) {
    const [command, ...words] = line.split(' ')
    if (command === 'export') Object.assign(env, Object.fromEntries(words.map((word) => word.split('='))))
    else if (command === 'node') {
      const { PATH } = process.env
      const child = spawn(process.execPath, words.slice(0, -1), { cwd: folder, env: { PATH, ...env } })
      t.teardown(() => child.kill())
      child.stdout.on('data', (text: Buffer) => printed.push(...String(text).trim().split('\n')))
      child.stderr.on('data', (text: Buffer) => printed.push(String(text)))
      await waitUntil(
        () => printed.some((line) => line.includes('answers at')),
        () => 'the stand-in of the carrier',
      )
    } else said = await type(line, env)
  }
  t.match(said, /^ok +telephony: refuses a request that its carrier did not sign/m)
  return printed
}

test('plugins of each kind are made by the printed commands, and one call is spoken through them', async (t) => {
  const here = place(t)
  const lines = linesOf('a plugin')
  t.equal(lines.length, 3)
  for (const kind of ['llm', 'stt', 'tts', 'embedding', 'tools']) {
    let said = ''
    for (const line of lines)
      said = await here.type(line.replace(' llm ', ` ${kind} `).replace('my-plugin', `my-${kind}`))
    t.match(said, new RegExp(`^ok +${kind}: `, 'm'), kind)
  }
  const env: Record<string, string> = {}
  const printed = await makeCarrier(t, here, env)
  const instance = await startInstance(t, { PATCHBAY_DATA_DIR: here.dataDir, ...env })
  const { rest, agentId } = await makeAgent(instance.url, {
    ...{ agent_name: 'Own', system_prompt: 'You say what you heard.', first_message: 'Good morning.' },
    ...{ LLM_provider: 'my-llm', STT_provider: 'my-stt', TTS_provider: 'my-tts' },
    tools: [{ type: 'mcp', plugin: 'my-tools' }],
  })
  const number = '+14155550100'
  await rest.send('POST', '/phone-numbers', { phone_number: number, provider: 'my-carrier', agent_id: agentId })
  const { call_log_id } = await rest.send<{ call_log_id: string }>('POST', '/calls/outbound_call', {
    agent_phone_number: number,
    phone_number_to_dial: '+14155552671',
  })
  const log = await finishedLog(rest, call_log_id, AbortSignal.timeout(TIMEOUT_MS))
  t.match(log, { status: 'completed', end_reason: 'caller_hangup' })
  const said = (role: string) => log.transcript.flatMap((turn) => (turn.role === role ? turn.text : [])).join(' ')
  t.match(said('user'), /heard \d+ tenths/)
  // It may say that it takes a moment.
  t.match(said('assistant'), /^Good morning\. .*You said: heard \d+ tenths/)
  const heardIn = (): string => printed.find((line) => line.includes('the person heard')) ?? ''
  await waitUntil(
    () => heardIn() !== '',
    () => `the end of the call at the carrier: ${printed.join(', ')}`,
  )
  t.ok(Number(/heard ([\d.]+) s/.exec(heardIn())?.[1]) > 1, heardIn())
  await waitUntil(
    async () => (await rest.send<{ tools: object[] }>('GET', `/agents/${agentId}/tools`)).tools.length > 0,
    () => 'the tools of the plugin',
  )
  const { response } = await rest.send<{ response: string }>('POST', '/chats/interaction', {
    ...{ agent_id: agentId, message: 'Please use the tool.' },
  })
  t.equal(response, 'You said: hello hello')
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
