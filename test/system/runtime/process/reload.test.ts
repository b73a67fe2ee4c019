import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { childrenWith, runMain, startInstance, voiceWorkersOf } from '../../../support/instance/instance.ts'
import { testFolder } from '../../../support/instance/services.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

const priceOf = (perMillionTokens: number) => ({
  llm: {
    offline: {
      '*': [{ from: '2020-01-01', inputPerMillionTokens: perMillionTokens, outputPerMillionTokens: perMillionTokens }],
    },
  },
})

t.test('log level, capacity and prices are read anew by every process, without a restart', async (t) => {
  const folder = await testFolder(t)
  const [envFile, prices] = [join(folder, 'patchbay.env'), join(folder, 'prices.json')]
  const settle = (lines: readonly string[]) => writeFile(envFile, `${lines.join('\n')}\n`)
  const named = `PATCHBAY_PRICES=${prices}`
  await writeFile(prices, JSON.stringify(priceOf(1)))
  await settle([named, 'PATCHBAY_LOG_LEVEL=info', 'PATCHBAY_WORKER_CAPACITY=4'])
  const adminPort = await freePort()
  const instance = await startInstance(t, { PATCHBAY_ENV_FILE: envFile, PATCHBAY_ADMIN_PORT: String(adminPort) })
  const { url, child, output } = instance
  const pids = async () => [
    await voiceWorkersOf(instance),
    await childrenWith(instance, (line) => / jobs( |$)/.test(line)),
  ]
  const before = await pids()
  const workers = async () => {
    const response = await fetch(`${url}/reports/workload`, { headers: { cookie } })
    return ((await response.json()) as { workers: { capacity: number }[] }).workers.map(({ capacity }) => capacity)
  }
  const user = { name: 'Ada', email: 'ada@example.com', password: 'correct horse', phone_number: '+14155550123' }
  const send = (path: string, body?: unknown, cookie = '') =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await send('/auth/signup', user)
  const login = await send('/auth/login', user)
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  await waitUntil(async () => (await workers()).join() === '4')

  await writeFile(prices, JSON.stringify(priceOf(7)))
  await settle([named, 'PATCHBAY_LOG_LEVEL=debug', 'PATCHBAY_WORKER_CAPACITY=9', 'PATCHBAY_RING_TIMEOUT_MS=20000'])
  child.kill('SIGHUP')
  await waitUntil(async () => (await workers()).join() === '9')
  t.match(output(), /"variables":\["PATCHBAY_RING_TIMEOUT_MS"\].*wait for a restart/)
  const told = (text: string) =>
    output()
      .split('\n')
      .filter((line) => line.includes(text))
  await waitUntil(() => told('Configuration reloaded').length >= 3)
  t.ok(
    told('Configuration reloaded').some((line) => line.includes('"name":"jobs"')),
    'the job worker, too',
  )
  await waitUntil(() => told('Request answered').length > 0)
  const models = (await (await fetch(`${url}/providers`, { headers: { cookie } })).json()) as unknown
  t.match(JSON.stringify(models), '"input_per_million_tokens":7')
  t.same(await pids(), before, 'nothing was started again')

  await settle([named, 'PATCHBAY_LOG_LEVEL=loud', 'PATCHBAY_WORKER_CAPACITY=2'])
  const refused = await send('/operator/reload', undefined, cookie)
  t.same(refused.status, 400)
  t.match(await refused.json(), { code: 'settings_unusable', detail: /PATCHBAY_LOG_LEVEL.*must be one of/ })
  t.same(await workers(), [9], 'a fault in one setting changes none')

  await settle([named, 'PATCHBAY_LOG_LEVEL=info', 'PATCHBAY_WORKER_CAPACITY=3'])
  const reloaded = await send('/operator/reload', undefined, cookie)
  t.match(await reloaded.json(), { changed: ['PATCHBAY_WORKER_CAPACITY', 'PATCHBAY_LOG_LEVEL'], processes: 2 })
  await waitUntil(async () => (await workers()).join() === '3')

  await settle([named, 'PATCHBAY_LOG_LEVEL=info', 'PATCHBAY_WORKER_CAPACITY=5'])
  const command = await runMain(['reload', `--port=${adminPort}`])
  t.same([command.code, command.stderr], [0, 'Reloaded: PATCHBAY_WORKER_CAPACITY\n'])
  await waitUntil(async () => (await workers()).join() === '5')

  const [worker = 0] = (await pids())[0] ?? []
  process.kill(worker, 'SIGKILL')
  await waitUntil(async () => (await voiceWorkersOf(instance)).some((pid) => pid !== worker))
  await waitUntil(async () => (await workers()).join() === '5')
  t.same(await workers(), [5], 'a process that is started again has what was reloaded')
})

t.test('patchbay reload says where nothing answers', async (t) => {
  const { code, stderr } = await runMain(['reload', '--port=1'])
  t.equal(code, 1)
  t.match(stderr, /Nothing answers on admin port 1 .*patchbay reload voice/)
})
