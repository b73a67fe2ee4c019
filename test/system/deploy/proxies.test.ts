import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startTestApi, type TestApi } from '../../support/instance/api.ts'
import { RealtimeClient, upgradeStatus } from '../../support/instance/realtime-node.ts'
import { type Teardown, testFolder } from '../../support/instance/services.ts'
import { linkWorker, startPhone } from '../../support/phone/phone.ts'
import { makeAuthority } from '../../support/sip/certificates.ts'
import { freePort } from '../../support/sip/sip-peers.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** The proxies' configurations as docs/operations.md prints them; addresses and certificates are the test's. */
const docs = await readFile(join(import.meta.dirname, '../../../docs/operations.md'), 'utf8')
const run = promisify(execFile)
const isMissing = (program: string, askVersion = '-v') =>
  run(program, [askVersion]).then(
    () => false as const,
    () => `${program} is missing: apt-get install ${program}`,
  )
const LIMIT_MS = 300_000

function blockOf(language: string): string {
  const [, block] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(docs) ?? []
  if (block === undefined) throw new Error(`docs/operations.md has no block of ${language}`)
  return block
}

const hostOf = (node: TestApi): string => new URL(node.url).host

interface Proxy {
  readonly configuration: (nodes: readonly TestApi[], port: number, folder: string) => Promise<string[]>
}

const PROXIES: Record<'caddy' | 'nginx' | 'haproxy', Proxy> = {
  caddy: {
    async configuration([node], port, folder) {
      const block = blockOf('caddy')
        .replace('voice.example.com {', `http://127.0.0.1:${port} {`)
        .replace('127.0.0.1:8080', node === undefined ? '' : hostOf(node))
      const file = join(folder, 'Caddyfile')
      await writeFile(file, `{\n  admin off\n  storage file_system ${folder}\n}\n${block}`)
      return ['run', '--adapter', 'caddyfile', '--config', file]
    },
  },
  nginx: {
    async configuration(nodes, port, folder) {
      const block = addressed(blockOf('nginx'), nodes)
        .replaceAll('/etc/ssl/', `${folder}/`)
        .replace('listen 443 ssl;', `listen 127.0.0.1:${port + 1} ssl; listen 127.0.0.1:${port};`)
      await mkdir(join(folder, 'tmp'))
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
        .map((name) => `${name}_temp_path ${folder}/tmp/${name};`)
        .join('\n')
      const file = join(folder, 'nginx.conf')
      const main = `user root;\ndaemon off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary}\n${block}}\n`
      await writeFile(file, process.getuid?.() === 0 ? main : main.replace('user root;\n', ''))
      return ['-e', 'stderr', '-c', file]
    },
  },
  haproxy: {
    async configuration(nodes, port, folder) {
      const block = addressed(blockOf('haproxy'), nodes)
        .replaceAll('/etc/ssl/', `${folder}/`)
        .replace(/^ {2}bind :443 (.*)$/m, `  bind 127.0.0.1:${port + 1} $1\n  bind 127.0.0.1:${port}`)
      const file = join(folder, 'haproxy.cfg')
      await writeFile(file, block)
      return ['-db', '-f', file]
    },
  },
}

function addressed(block: string, nodes: readonly TestApi[]): string {
  const [first, second] = nodes
  if (first === undefined || second === undefined) throw new Error('The block has two nodes')
  const made = block.replace('10.0.0.11:8080', hostOf(first)).replace('10.0.0.12:8080', hostOf(second))
  if (/10\.0\.0\./.test(made)) throw new Error('The block has other addresses than those of its two nodes')
  return made
}

async function startProxy(t: Teardown, name: keyof typeof PROXIES, nodes: readonly TestApi[]): Promise<string> {
  const folder = await testFolder(t)
  const { key, cert } = makeAuthority().issue(['voice.example.com'])
  await writeFile(join(folder, 'voice.example.com.pem'), `${cert}\n${key}\n`)
  await writeFile(join(folder, 'voice.example.com.key'), key)
  const port = await freePort()
  const args = await PROXIES[name].configuration(nodes, port, folder)
  const child: ChildProcess = spawn(name, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    // Caddy keeps its last configuration there.
    env: { ...process.env, XDG_CONFIG_HOME: folder },
  })
  let said = ''
  child.stderr?.on('data', (data: Buffer) => {
    said += data.toString()
  })
  t.teardown(async () => {
    child.kill('SIGTERM')
    await waitUntil(() => child.exitCode !== null || child.signalCode !== null)
  })
  const url = `http://127.0.0.1:${port}`
  await waitUntil(
    async () => {
      if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`)
      return (await fetch(`${url}/health`).catch(() => undefined))?.status === 200
    },
    () => said,
  )
  return url
}

async function drainsBehind(t: Test, name: keyof typeof PROXIES): Promise<void> {
  const env = { PATCHBAY_WEB_SESSIONS_PER_WORKSPACE: '100' }
  const first = await startTestApi(t, { env })
  const { linkToken } = first.config
  const second = await startTestApi(t, { env, beside: first, settings: { linkToken } })
  const nodes = [first, second]
  for (const node of nodes) await linkWorker(t, node, { capacity: 100 })
  const user = await first.signUp()
  const { agentId } = await startPhone(first, user)
  const url = await startProxy(t, name, nodes)
  const proxied = { url: url.replace(/^http/, 'ws') }

  const open = async (node: { url: string }): Promise<RealtimeClient> => {
    const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const client = new RealtimeClient(node, body.token)
    t.teardown(() => client.socket.terminate())
    await client.got('session.started')
    return client
  }
  const direct = { url: second.url.replace(/^http/, 'ws') }
  const held = await open(direct)
  const through = [await open(proxied), await open(proxied), await open(proxied)]

  const drained = second.drain(60_000, 5_000)
  // Balancers are given five seconds; afterwards the node refuses.
  await sleep(5_500)
  const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
  t.equal(await upgradeStatus(direct, `/realtime?token=${body.token}`), 503, 'the node itself takes nothing new')
  const opened: RealtimeClient[] = []
  for (let n = 0; n < 12; n += 1) {
    opened.push(await open(proxied))
    await sleep(300)
  }
  t.equal(opened.length, 12, 'every new session is served by the other node')
  for (const client of [held, ...through]) t.equal(client.closeCode, undefined, 'sessions of before go on')
  t.equal((await fetch(`${url}/ready`)).status, 200)
  for (const client of [held, ...through, ...opened]) client.send({ type: 'end' })
  for (const client of [held, ...through, ...opened]) await client.closed()
  await drained
}

for (const name of ['nginx', 'haproxy'] as const) {
  t.test(
    `behind ${name} as docs/operations.md has it, an api node drains and no caller is refused`,
    { skip: await isMissing(name), timeout: LIMIT_MS },
    (t) => drainsBehind(t, name),
  )
}

t.test(
  'behind caddy as docs/operations.md has it, requests and sessions come through',
  { skip: await isMissing('caddy', 'version'), timeout: LIMIT_MS },
  async (t) => {
    const node = await startTestApi(t)
    await linkWorker(t, node)
    const user = await node.signUp()
    const { agentId } = await startPhone(node, user)
    const url = await startProxy(t, 'caddy', [node])
    const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
    const client = new RealtimeClient({ url: url.replace(/^http/, 'ws') }, body.token)
    await client.got('session.started')
    client.send({ type: 'text', text: 'Hello' })
    await client.got('transcript', { role: 'assistant' })
    client.send({ type: 'end' })
    await client.closed()
    t.equal((await fetch(`${url}/ready`)).status, 200)
  },
)
