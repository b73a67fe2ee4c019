import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { createRedis } from '../../../../store/redis/client.ts'
import { takeSessionTurn } from '../../../../store/redis/session-turns.ts'
import { until } from '../../../support/instance/realtime-node.ts'
import { testRedis } from '../../../support/instance/services.ts'
import { messagesInLine } from '../../../support/providers/chat-line.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const url = await testRedis(t)
// Two clients stand for two api nodes: the line knows nothing of who asks.
const nodes = [await createRedis(url, log), await createRedis(url, log)] as const
t.teardown(() => {
  for (const node of nodes) node.destroy()
})

const wait = (node: 0 | 1, session: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
  takeSessionTurn(nodes[node], ['workspace', 'agent', session], {
    timeoutMs: options.timeoutMs ?? 300_000,
    signal: options.signal ?? new AbortController().signal,
    log,
  })

/** Waits until so many stand in line; those who asked one after the other then stand in that order. */
const inLine = (count: number) => until(async () => (await messagesInLine(nodes[0])) === count)

t.test('turns of one session come one at a time, in the order of asking, on whichever node', async (t) => {
  const order: number[] = []
  let running = 0
  const answer = async (i: number) => {
    const turn = await wait((i % 2) as 0 | 1, 'a')
    t.equal(++running, 1)
    order.push(i)
    await sleep(30)
    running--
    turn.release()
  }
  const first = await wait(0, 'a')
  const all: Promise<void>[] = []
  for (let i = 0; i < 6; i++) {
    all.push(answer(i))
    await inLine(i + 2)
  }
  first.release()
  await Promise.all(all)
  t.same(order, [0, 1, 2, 3, 4, 5])
})

t.test('another session does not wait', async (t) => {
  const first = await wait(0, 'b')
  const other = await wait(1, 'c')
  t.ok(other)
  first.release()
  other.release()
})

t.test('who gives up or runs out of time leaves the line', async (t) => {
  const first = await wait(0, 'd')
  const leaving = new AbortController()
  const gone = wait(1, 'd', { signal: leaving.signal })
  const late = wait(0, 'd', { timeoutMs: 100 })
  const next = wait(1, 'd')
  leaving.abort()
  await t.rejects(gone, { name: 'AbortError' })
  await t.rejects(late, { code: 'timeout' })
  first.release()
  ;(await next).release()
})

t.test('a line holds 128 messages; one more is refused', async (t) => {
  await inLine(0)
  const first = await wait(0, 'e')
  const stop = new AbortController()
  const waiting = Array.from({ length: 127 }, () => wait(0, 'e', { signal: stop.signal }).catch(() => 'left'))
  await inLine(128)
  await t.rejects(wait(1, 'e'), { code: 'unavailable' })
  stop.abort()
  t.same(new Set(await Promise.all(waiting)), new Set(['left']))
  first.release()
})

t.test('the turn of a node that died ends with its lease', async (t) => {
  // A ticket of a process that is gone: its lease ended a second ago.
  const { createHash } = await import('node:crypto')
  const hash = createHash('sha256').update(['workspace', 'agent', 'f'].join('\0')).digest('hex')
  await nodes[0].zAdd(`patchbay:{chat:${hash}}:line`, { value: 'dead', score: 1 })
  await nodes[0].zAdd(`patchbay:{chat:${hash}}:alive`, { value: 'dead', score: Date.now() - 1000 })
  const turn = await wait(1, 'f', { timeoutMs: 5000 })
  t.notOk(turn.lost.aborted)
  turn.release()
})
