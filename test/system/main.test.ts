import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { getPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { VOICE_NODE_OPTIONS } from '../../cli/node-options.ts'
import { NODE_PRIORITY, SERVICE_PRIORITY, VOICE_PRIORITY } from '../../runtime/process/realtime.ts'
import {
  childrenOf,
  childrenWith,
  commandLineOf,
  runMain,
  SILENT,
  startInstance,
  startRole,
  voiceWorkersOf,
} from '../support/instance/instance.ts'
import { testFolder } from '../support/instance/services.ts'
import { NORMAL, policyOf, policyWhen, priorityOf, REALTIME, withoutRealtime } from '../support/world/realtime.ts'

const linuxOnly = process.platform === 'linux' ? false : 'reads /proc'

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(20)
}

async function allGone(pids: readonly number[]): Promise<boolean> {
  return (await Promise.all(pids.map(commandLineOf))).every((line) => line === '')
}

async function health(url: string): Promise<number> {
  return (await fetch(`${url}/health`, { signal: AbortSignal.timeout(60_000) })).status
}

t.test('start serves, and SIGTERM ends it and all its children', { skip: linuxOnly }, async (t) => {
  // Nothing is too late for a busy machine: that would be a warning.
  const instance = await startInstance(t, { PATCHBAY_DRAIN_MS: '120000' })
  t.equal(await health(instance.url), 200)
  const children = await childrenOf(instance.child.pid)
  const lines = (await Promise.all(children.map(commandLineOf))).sort().join('\n')
  for (const expected of [/redis-server/, /postgres -D/, /main\.ts jobs/, /main\.ts voice/]) t.match(lines, expected)
  t.equal(await instance.stop('SIGTERM'), 0)
  t.ok(await allGone(children))
  t.match(instance.output(), /^Stopped$/m)
  const afterwards = instance.output().slice(instance.output().indexOf('Stopping'))
  t.notMatch(afterwards, /"level":"(warn|error)"/, 'nothing asks what has closed')
})

t.test('a voice worker or job worker that is killed is replaced', { skip: linuxOnly }, async (t) => {
  const instance = await startInstance(t, { PATCHBAY_AUDIO_FIRST: 'true', PATCHBAY_LOG_LEVEL: 'debug' })
  const ofRole = (role: string) => childrenWith(instance, (command) => command.includes(`main.ts ${role}`))
  const { pid = 0 } = instance.child
  const [jobs = 0] = await ofRole('jobs')
  t.equal(getPriority(jobs), getPriority(pid) + 5, 'what is done for later gives way to the calls of the api node')
  for (const role of ['voice', 'jobs']) {
    const [first = 0] = await ofRole(role)
    process.kill(first, 'SIGKILL')
    await until(async () => (await ofRole(role)).some((one) => one !== first))
  }
  t.equal(await health(instance.url), 200)
  t.match(await commandLineOf(pid), / --concurrent-marking-max-worker-num=1 .*main\.ts/)
  for (const id of await ofRole('voice')) {
    const line = await commandLineOf(id)
    for (const option of VOICE_NODE_OPTIONS) t.match(line, new RegExp(` ${option} .*main\\.ts voice`))
  }
  await t.test(
    'what carries audio runs in real time, behind it what everybody waits for, and nothing else',
    { skip: await withoutRealtime() },
    async (t) => {
      const children = await childrenOf(pid)
      const lines = await Promise.all(children.map(commandLineOf))
      const priorities = [
        ['main.ts voice', VOICE_PRIORITY],
        ['main.ts jobs', SERVICE_PRIORITY],
        ['redis-server', SERVICE_PRIORITY],
      ] as const
      const wanted = new Map([[pid, NODE_PRIORITY as number]])
      for (const [name, priority] of priorities) {
        const ids = children.filter((_, index) => lines[index]?.includes(name))
        t.ok(ids.length > 0, name)
        for (const id of ids) wanted.set(id, priority)
      }
      for (const [id, priority] of wanted) {
        t.equal(await policyWhen(id, REALTIME), REALTIME, lines[children.indexOf(id)] ?? 'the api node')
        t.equal(await priorityOf(id), priority)
      }
      const told = instance.output().split('\n')
      // The last of its fields named so is whose loop it is.
      const isOwn = (line: string) => [...line.matchAll(/"pid":(\d+)/g)].at(-1)?.[1] === String(pid)
      const first = told.findIndex((line) => line.includes('A loop runs in real time') && isOwn(line))
      const linked = told.findIndex((line) => line.includes('Voice worker linked'))
      t.ok(first >= 0 && first < linked, `the api node goes first (line ${first}) before it has calls (line ${linked})`)
      for (const id of children.filter((id) => !wanted.has(id))) {
        // What sets it is a child, too, and may have ended.
        t.equal((await policyOf(id)) ?? NORMAL, NORMAL, lines[children.indexOf(id)] ?? '')
      }
    },
  )
})

t.test('a role that balancers send nothing to does not wait for them when it ends', { skip: linuxOnly }, async (t) => {
  const { output, child, ended } = startRole(t, ['voice'], {
    PATCHBAY_DATA_DIR: await testFolder(t),
    PATCHBAY_LINK_TOKEN: 'a-token-of-this-test',
    // Nobody is there: it waits to be given calls.
    PATCHBAY_API_URLS: 'ws://127.0.0.1:1',
    PATCHBAY_LEAVE_MS: '86400000',
  })
  await until(() => output().includes('"Started in '))
  child.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('kill -9 leaves no process behind, and the next start finds the data', { skip: linuxOnly }, async (t) => {
  const instance = await startInstance(t, { PATCHBAY_DATA_DIR: join(await testFolder(t), 'new', 'data') })
  const children = await childrenOf(instance.child.pid)
  const account = { email: 'ada@example.com', password: 'correct horse' }
  const json = { 'content-type': 'application/json' }
  const body = JSON.stringify({ ...account, name: 'Ada', phone_number: '+14155550123' })
  t.equal((await fetch(`${instance.url}/auth/signup`, { method: 'POST', headers: json, body })).status, 201)
  await instance.stop('SIGKILL')
  await until(() => allGone(children))

  const again = await startInstance(t, { ...SILENT, PATCHBAY_DATA_DIR: instance.dataDir })
  const login = { method: 'POST', headers: json, body: JSON.stringify(account) }
  t.equal((await fetch(`${again.url}/auth/login`, login)).status, 200)
})

t.test('a second signal ends what does not want to end', { skip: linuxOnly }, async (t) => {
  const instance = await startInstance(t, { PATCHBAY_DRAIN_MS: '60000' })
  const children = await childrenOf(instance.child.pid)
  const [voice = 0] = await voiceWorkersOf(instance)
  // A stopped process hears no signal: it stands for a worker that hangs.
  process.kill(voice, 'SIGSTOP')
  instance.child.kill('SIGINT')
  await until(() => instance.output().includes('Stopping'))
  await sleep(700)
  t.equal(await instance.stop('SIGINT'), 130)
  // They are killed, and a busy machine takes its time to end them.
  await until(() => allGone(children))
})

t.test('a second instance on the same data folder ends with one sentence', async (t) => {
  const { dataDir } = await startInstance(t, SILENT)
  const { code, stderr } = await runMain(['start'], { PORT: '0', PATCHBAY_DATA_DIR: dataDir })
  t.equal(code, 1)
  t.match(stderr, /^patchbay: Another Patchbay already runs on the data folder .*\n$/m)
})

t.test('a taken port ends with one sentence and leaves nothing running', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const { code, stderr } = await runMain(['start'], {
    PORT: String(port),
    PATCHBAY_HOST: '127.0.0.1',
    PATCHBAY_ADMIN_PORT: '0',
    PATCHBAY_DATA_DIR: join(await testFolder(t), 'data'),
  })
  t.equal(code, 1)
  t.match(stderr, `patchbay: Port ${port} is in use; set PORT`)
  t.notMatch(stderr, 'Starting the embedded', 'nothing was started, and no database brought up to date')
})

t.test('a data folder that cannot be written ends with one sentence', async (t) => {
  const folder = await testFolder(t)
  await writeFile(join(folder, 'file'), '')
  const { code, stderr } = await runMain(['start'], { PORT: '0', PATCHBAY_DATA_DIR: join(folder, 'file', 'data') })
  t.equal(code, 1)
  t.match(stderr, /patchbay: The data folder ".*" can't be written \(ENOTDIR\); make it writable/)
})

t.test('bad configuration ends with every fault in one line', async (t) => {
  const { code, stderr, stdout } = await runMain(['start'], { PORT: 'x', PATCHBAY_VOICE_WORKER: '1' })
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(stderr, /^patchbay: PATCHBAY_VOICE_WORKER .*PATCHBAY_VOICE_WORKERS\?; PORT must be .*\.\n$/)
})

t.test('a faulty line of .env stops every command with its number', async (t) => {
  const file = join(await testFolder(t), '.env')
  await writeFile(file, 'PATCHBAY_LOG_LEVEL=warn\nOPENAI_API_KEY sk-1\n')
  const { code, stderr } = await runMain(['config'], { PATCHBAY_ENV_FILE: file })
  t.equal(code, 1)
  t.equal(stderr, `patchbay: ${file}, line 2: is not of the form NAME=value.\n`)
  await writeFile(file, 'PATCHBAY_LOG_LEVEL=warn\nPORT=7001\n')
  const { stdout } = await runMain(['config'], { PATCHBAY_ENV_FILE: file, PORT: '7002' })
  t.match(stdout, /^PATCHBAY_LOG_LEVEL +warn$/m)
  t.match(stdout, /^PORT +7002$/m, 'the environment wins')
})

t.test('services of the operator that do not answer are named', async (t) => {
  const { code, stderr } = await runMain(['jobs'], {
    DATABASE_URL: 'postgres://patchbay@127.0.0.1:1/patchbay',
    REDIS_URL: 'redis://127.0.0.1:1',
    JWT_API_SECRET: 'x'.repeat(32),
    PATCHBAY_DATA_KEY: 'y'.repeat(32),
  })
  t.equal(code, 1)
  t.match(stderr, /^patchbay: The PostgreSQL of DATABASE_URL can't be reached \(.*ECONNREFUSED/)
})

t.test('what is wrong with a setting is said with its value, and no question ends in a full stop', async (t) => {
  const faultOf = async (args: string[], env: Record<string, string>) => {
    const { code, stderr } = await runMain(args, { PATCHBAY_DATA_DIR: '/tmp', ...env })
    t.equal(code, 1)
    return stderr
  }
  t.equal(
    await faultOf(['config'], { PATCHBAY_PROT: '1' }),
    'patchbay: PATCHBAY_PROT is not a setting, did you mean PORT?\n',
  )
  t.match(
    await faultOf(['plugins'], { PATCHBAY_RTP_PORTS: '100-10' }),
    'PATCHBAY_RTP_PORTS is "100-10", which ends before it begins',
  )
  t.match(
    await faultOf(['plugins'], { OPENAI_BASE_URL: 'localhost:8000/v1' }),
    'OPENAI_BASE_URL is "localhost:8000/v1", which is no URL: http:// or https:// before it is missing',
  )
  t.match(await faultOf(['drain'], { PATCHBAY_ADMIN_PORT: '1' }), 'Nothing answers on admin port 1 of this machine')
  t.match(await faultOf(['backup'], {}), 'Usage: npm run patchbay backup <file.tar.gz>')
})

t.test('a data folder where none can be is refused at once', { skip: linuxOnly }, async (t) => {
  const { code, stderr } = await runMain(['start'], { PORT: '0', PATCHBAY_DATA_DIR: '/proc/patchbay/data' })
  t.equal(code, 1)
  t.match(stderr, /The data folder "\/proc\/patchbay\/data" can't be written \(ENOENT\)/)
})

t.test('the version is told', async (t) => {
  for (const args of [['version'], ['--version']]) {
    const { code, stdout } = await runMain(args)
    t.equal(code, 0)
    t.match(stdout, /^Patchbay \d+\.\d+\.\d+ \(commit ([0-9a-f]{12}|unknown), Node 2[246]\./)
  }
})

t.test('a stop during the start ends it without a banner or a stack', { skip: linuxOnly }, async (t) => {
  const dataDir = join(await testFolder(t), 'data')
  const { child, output, ended } = startRole(t, ['start'], {
    PORT: '0',
    PATCHBAY_ADMIN_PORT: '0',
    PATCHBAY_SIP_PORT: '0',
    PATCHBAY_DATA_DIR: dataDir,
  })
  await until(() => output().includes('Starting the API'))
  child.kill('SIGINT')
  t.equal(await ended, 0)
  t.match(output(), /^Stopped$/m)
  t.notMatch(output(), 'Patchbay listens on')
  t.notMatch(output(), /^\s+at /m)
})

t.test('an unknown command is answered with the nearest one', async (t) => {
  const { code, stderr } = await runMain(['strat'])
  t.equal(code, 1)
  t.match(stderr, /"strat" is not a command, did you mean "start"\?/)
})

t.test('config prints what is in force and masks secrets', async (t) => {
  const { code, stdout } = await runMain(['config'], { PORT: '7000', JWT_API_SECRET: 's'.repeat(40) })
  t.equal(code, 0)
  t.match(stdout, /^PORT +7000$/m)
  t.notMatch(stdout, 'ssss')
})

t.test('help names every command', async (t) => {
  const { code, stdout } = await runMain(['--help'])
  t.equal(code, 0)
  for (const command of [
    'start',
    'api',
    'jobs',
    'voice',
    'backup',
    'verify',
    'restore',
    'move',
    'migrate',
    'drain',
    'config',
    'plugins',
    'version',
  ])
    t.match(stdout, `  ${command} `)
})
