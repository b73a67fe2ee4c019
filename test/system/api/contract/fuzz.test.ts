import { once } from 'node:events'
import { request } from 'node:http'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { routes } from '../../../../api/routes.ts'
import { startTestApi } from '../../../support/instance/api.ts'
import { undeclared } from '../../../support/source/declared.ts'
import { oddRequests, type Sent, wrongRequests } from '../../../unit/api/contract/requests.ts'
import { fingerprint, furnish } from '../../../unit/api/contract/world.ts'

/**
 * Thousands of requests made from the schemas of the routes. None may be answered by a 5xx, an undeclared status or late
 * each time it is asked, and no wrong one may store a row. `FUZZ_SEED` and `FUZZ_RUNS` repeat and widen a run.
 */

const SEED = Number(process.env.FUZZ_SEED ?? 20_260_131)
const RUNS = Number(process.env.FUZZ_RUNS ?? 3000)
const LATEST_MS = 2000
const MAX_HEAD_CHARS = 15_000
/** A busy machine is late with everything: late is also longer than so many empty threads take to start there and then. */
const LATEST_THREADS = 80
const LATE_TIMES = 3
const TIME_LIMIT_MS = 40_000

/**
 * Carriers are answered in their own words, who logs out asks nothing more, live streams go on, and in maintenance the calls asked for
 * are 503.
 */
const FUZZED = routes.filter(
  ({ tag, path, success }) =>
    tag !== 'Telephony' &&
    !path.startsWith('/auth/logout') &&
    path !== '/operator/maintenance' &&
    success.contentType !== 'text/event-stream' &&
    success.events === undefined,
)

async function startTarget(t: Test) {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const own = await furnish(api, ada)
  const cookie = [...ada.client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const { hostname, port } = new URL(api.url)
  const statuses: Record<number, number> = {}

  /** Of each route the last request that was answered late. */
  const late = new Map<string, Sent>()
  let answered: Promise<unknown> = Promise.resolve()

  /** Returns the status of the answer; throws when it is not what the route declares. */
  async function ask(sent: Sent): Promise<number> {
    const answer = askOnce(sent)
    answered = answer.catch(() => {})
    const { status, ms } = await answer
    if (await isLate(ms)) late.set(`${sent.route.method} ${sent.route.path}`, sent)
    return status
  }

  /** Throws when what was answered late is so each time. */
  async function askLateAgain(): Promise<void> {
    // fast-check doesn't wait for what is under way when its time is over.
    await answered
    for (const sent of late.values()) {
      let times = 1
      while (times < LATE_TIMES && (await isLate((await askOnce(sent)).ms))) times++
      if (times === LATE_TIMES) throw new Error(`late ${times} times in a row\n${shown(sent)}`)
    }
  }

  /** Sends the bytes as they are; throws when the answer is not what the route declares. */
  async function askOnce({ route, path, headers, body }: Sent): Promise<{ status: number; ms: number }> {
    const { status, text, ms } = await new Promise<{ status: number; text: string; ms: number }>((resolve, reject) => {
      const startMs = performance.now()
      const sent = { cookie, ...(body ? { 'content-length': String(body.length) } : {}), ...headers }
      const outgoing = request({ hostname, port, method: route.method, path, headers: sent }, (incoming) => {
        let text = ''
        incoming.setEncoding('utf8').on('data', (chunk) => {
          text += chunk
        })
        incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, text, ms: performance.now() - startMs }))
      })
      outgoing.on('error', reject)
      outgoing.end(body)
    })
    statuses[status] = (statuses[status] ?? 0) + 1
    const isJson = text.startsWith('{') || text.startsWith('[')
    const fault = undeclared(route.method, path.split('?')[0] ?? '', status, isJson ? JSON.parse(text) : undefined)
    if (fault) throw new Error(`${fault}: ${text.slice(0, 300)}`)
    if (status >= 500 && status !== route.success.orStatus) throw new Error(`answered ${status} ${text.slice(0, 300)}`)
    return { status, ms }
  }
  return { api, own, ask, askLateAgain, statuses }
}

async function isLate(ms: number): Promise<boolean> {
  if (ms <= LATEST_MS) return false
  const starts: number[] = []
  for (let i = 0; i < 3; i++) {
    const startMs = performance.now()
    await once(new Worker('', { eval: true }), 'exit')
    starts.push(performance.now() - startMs)
  }
  return ms > LATEST_THREADS * Math.min(...starts)
}

t.test('wrong requests are refused and store nothing', { timeout: 600_000 }, async (t) => {
  const { api, own, ask, askLateAgain, statuses } = await startTarget(t)
  const wrong = FUZZED.flatMap((route) => wrongRequests(route, own))
  const before = await fingerprint(api)
  const refused = fc.asyncProperty(fc.oneof(...wrong).filter(reachesRoute), async (sent) => {
    const status = await ask(sent)
    if (status < 400) throw new Error(`answered ${status}`)
  })
  await fc.assert(refused, parameters(RUNS))
  await askLateAgain()
  const answered = Object.keys(statuses).map(Number)
  t.ok(statuses[400]! > 0 || statuses[422]! > 0, `what is wrong is called so: ${JSON.stringify(statuses)}`)
  t.same(
    answered.filter((status) => status < 400 || status >= 500),
    [],
    'and nothing else happens',
  )
  t.same(await fingerprint(api), before)
})

t.test('odd requests are answered as declared', { timeout: 600_000 }, async (t) => {
  const { own, ask, askLateAgain, statuses } = await startTarget(t)
  const odd = FUZZED.filter(({ method }) => method !== 'DELETE').map((route) => oddRequests(route, own))
  await fc.assert(
    fc.asyncProperty(fc.oneof(...odd).filter(reachesRoute), async (sent) => void (await ask(sent))),
    parameters(RUNS / 4),
  )
  await askLateAgain()
  const all = Object.values(statuses).reduce((sum, times) => sum + times, 0)
  const took = Object.entries(statuses).reduce((sum, [status, times]) => sum + (Number(status) < 400 ? times : 0), 0)
  t.ok(took > 0 && took < all, `some are taken and some refused: ${JSON.stringify(statuses)}`)
})

/** Longer ones are refused by the HTTP parser, which allows 16 KiB for the request line and all headers. */
function reachesRoute({ path, headers }: Sent): boolean {
  return path.length + JSON.stringify(headers).length < MAX_HEAD_CHARS
}

function parameters(numRuns: number): fc.Parameters<[Sent]> {
  return { seed: SEED, numRuns: Math.ceil(numRuns), interruptAfterTimeLimit: TIME_LIMIT_MS / 2, reporter: report }
}

/** fast-check's own report prints whole bodies. */
function report(run: fc.RunDetails<[Sent]>): void {
  if (!run.failed) return
  const [wrong] = run.counterexample ?? []
  throw new Error(
    `${run.errorInstance instanceof Error ? run.errorInstance.message : ''}\n${wrong && shown(wrong)}\nseed ${run.seed}`,
  )
}

function shown({ route, path, headers, body }: Sent): string {
  return [`${route.method} ${path}`, JSON.stringify(headers ?? {}), String(body)]
    .map((part) => part.slice(0, 300))
    .join('\n')
}
