import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openStore } from '../../../store/database/database.ts'
import { type Answer, ApiClient } from '../../support/instance/api.ts'
import { testDatabase, testFolder, testRedis } from '../../support/instance/services.ts'

const FROM = '+14155550100'
/** When the node is killed, in ms after the requests set off: before, amid and after its transactions. */
const KILLS_AFTER_MS = [5, 40, 90, 150]
const REQUESTS = 100
const SETTLED_TIMEOUT_MS = 400_000

t.test('a key sent a hundred times at once to two nodes, one of them killed amid, places one call', async (t) => {
  const [databaseUrl, redisUrl, folder] = await Promise.all([testDatabase(t), testRedis(t), testFolder(t)])
  const ledger = join(folder, 'ledger')
  const store = openStore({ databaseUrl, maxConnections: 2 })
  t.teardown(() => store.close())
  const start = async (): Promise<{ child: ChildProcess; url: string }> => {
    const program = new URL('../../support/phone/phone-process.ts', import.meta.url)
    const child = fork(program, [databaseUrl, redisUrl, folder], { env: { ...process.env, TEST_LEDGER: ledger } })
    t.teardown(() => child.kill('SIGKILL'))
    const died = once(child, 'exit').then(([code]) => Promise.reject(new Error(`The process ended early: ${code}`)))
    died.catch(() => {})
    const [{ url }] = (await Promise.race([once(child, 'message'), died])) as [{ url: string }]
    return { child, url }
  }
  const [steady, first] = await Promise.all([start(), start()])
  const email = 'ada@example.com'
  const password = 'correct horse'
  const client = new ApiClient(steady.url)
  await client.post('/auth/signup', { body: { name: 'Ada', email, password, phone_number: '+14155550123' } })
  const { body } = await client.post('/auth/login', { body: { email, password } })
  const agent = await client.post('/agents', { body: { agent_name: 'Ada', system_prompt: 'You answer.' } })
  const number = { phone_number: FROM, agent_id: agent.body.agent_id, provider: 'ledger', trunk: null }
  await store.tenant(body.user.current_workspace_id).db.insertInto('phone_numbers').values(number).execute()

  let victim = first
  for (const [round, afterMs] of KILLS_AFTER_MS.entries()) {
    const to = `+1415555020${round}`
    const order = async (url: string): Promise<Answer> => {
      const one = new ApiClient(url)
      for (const [name, value] of client.cookies) one.cookies.set(name, value)
      return one.post('/calls/outbound_call', {
        body: { agent_phone_number: FROM, phone_number_to_dial: to },
        headers: { 'idempotency-key': `order-${round}` },
      })
    }
    const { child, url } = victim
    const exited = once(child, 'exit')
    const sent = Array.from({ length: REQUESTS }, (_, i) =>
      // Who gets no answer sends again, as a client would; to the node that lives.
      order(i % 2 === 0 ? url : steady.url).catch(() => order(steady.url)),
    )
    await sleep(afterMs)
    child.kill('SIGKILL')
    await exited
    const answers = await Promise.all(sent)
    t.same([...new Set(answers.map(({ status }) => status))], [201], 'everybody is answered')
    t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'the same, to the letter')
    const { rows } = await store.pool.query('select count(*)::int as n from calls where to_number = $1', [to])
    t.equal(rows[0].n, 1)
    victim = await start()
  }

  const open = `select from calls where status in ('queued', 'ringing', 'in_progress')`
  const untilMs = performance.now() + SETTLED_TIMEOUT_MS
  while ((await store.pool.query(open)).rowCount !== 0 && performance.now() < untilMs) await sleep(100)
  t.equal((await store.pool.query(open)).rowCount, 0, 'every call is over')
  const dialled = readFileSync(ledger, { encoding: 'utf8', flag: 'a+' }).split('\n').filter(Boolean)
  const numbers = dialled.map((line) => line.split(' ')[0])
  t.equal(new Set(numbers).size, numbers.length, `nobody was dialled twice: ${numbers.join(', ')}`)
  t.ok(numbers.length > 0, 'and somebody was')
})
