import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import type { SlotClaim } from '../../../../../runtime/admission/slot-claim.ts'
import { Dispatch } from '../../../../../runtime/call/control/dispatch.ts'
import type { Leases } from '../../../../../runtime/call/control/leases.ts'
import type { HeldSlot, Slots, TakenSlot } from '../../../../../runtime/call/control/slots.ts'
import type { LinkedWorker } from '../../../../../runtime/call/link/api-end.ts'
import type { WorkerState } from '../../../../../runtime/call/link/messages.ts'
import type { Leg } from '../../../../../runtime/call/types/leg.ts'
import {
  endedCall,
  makeCall,
  openSession,
  RealtimeClient,
  startNode,
  startWorker,
  until,
  upgradeStatus,
} from '../../../../support/instance/realtime-node.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

t.test('a session without a free worker ends with no_capacity, and the call log says so', async (t) => {
  const node = await startNode(t, { queueWaitMs: 200 })
  const waiting = await makeCall(node)
  const client = new RealtimeClient(node, waiting.token)
  t.match(await client.got('session.ended'), { reason: 'no_capacity' })
  t.equal(await client.closed(), 1013)
  t.match((await endedCall(node, waiting)).call, {
    status: 'failed',
    end_reason: 'no_capacity',
    disposition: 'failed',
    answered_at: null,
    duration_ms: 0,
    error: 'No voice worker is free',
  })
})

t.test('a session that waits gets the slot another gives back, after its wrap-up', async (t) => {
  const node = await startNode(t, { queueWaitMs: 20_000, wrapUpMs: 200 })
  await startWorker(t, [node], { capacity: 1 })
  const first = await openSession(t, node, await makeCall(node))
  const second = new RealtimeClient(node, (await makeCall(node)).token)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.same(second.messages, [])
  const endedAtMs = performance.now()
  first.send({ type: 'end' })
  await second.got('session.started')
  t.ok(performance.now() - endedAtMs > 190)
  second.socket.terminate()
})

t.test('a caller who leaves while waiting is canceled and takes no slot', async (t) => {
  const node = await startNode(t, { queueWaitMs: 20_000 })
  const waiting = await makeCall(node)
  const impatient = new RealtimeClient(node, waiting.token)
  await new Promise((resolve) => impatient.socket.once('open', resolve))
  impatient.send({ type: 'end' })
  t.match((await endedCall(node, waiting)).call, { status: 'canceled', end_reason: 'caller_hangup' })
  await startWorker(t, [node], { capacity: 1 })
  await openSession(t, node, await makeCall(node))
})

t.test('a worker that has become overloaded keeps the seat it promised, and gives no other', async (t) => {
  const node = await startNode(t, { queueWaitMs: 300 })
  let state: WorkerState = 'ready'
  await startWorker(t, [node], { state: () => state })
  const seat = await node.sessions.calls.reserve(
    { workspaceId: 'w', kind: 'outbound' },
    60_000,
    AbortSignal.timeout(60_000),
  )
  state = 'overloaded'
  await until(() => node.sessions.workers().every((worker) => worker.state === 'overloaded'))

  const { workspaceId, callId } = await makeCall(node)
  const answered = Promise.withResolvers<void>()
  const journal = node.sessions.journalOf(workspaceId)
  const limits = { idleMs: 60_000, maxDurationMs: 60_000 }
  const over = node.sessions.calls.start({
    callId,
    claim: { workspaceId, kind: 'outbound' },
    agent: AGENT_SPEC,
    limits,
    leg: legOf(answered.resolve),
    journal,
    seat,
  })
  await answered.promise
  node.sessions.calls.hangUp(callId)
  t.match(await over, { status: 'completed' })

  const other = new RealtimeClient(node, (await makeCall(node)).token)
  t.match(await other.got('session.ended'), { reason: 'no_capacity' })
})

/** The line of somebody who picked up. */
function legOf(answer: () => void): Leg {
  const nothing = () => {}
  return {
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    start: nothing,
    answer,
    sendAudio: nothing,
    clear: nothing,
    mark: nothing,
    agentState: nothing,
    transcript: nothing,
    error: nothing,
    close: nothing,
  }
}

t.test('a seat that comes as its session leaves is given back, whichever is first by however little', async (t) => {
  const worker = { workerId: 'w', state: 'ready' } as LinkedWorker
  for (let later = 0; later < 12; later++) {
    const coming = Promise.withResolvers<TakenSlot>()
    const held = new Set<string>()
    const dispatch = new Dispatch({
      slots: {
        take: () => coming.promise,
        release: async () => true,
        onForgotten: () => () => undefined,
      } as unknown as Slots,
      leases: {
        holdSlot: ({ slot }: HeldSlot) => held.add(slot),
        dropSlot: ({ slot }: HeldSlot) => held.delete(slot),
      } as unknown as Leases,
      workers: () => [worker],
      wrapUpMs: 0,
      log: pino({ level: 'silent' }),
    })
    const leaving = new AbortController()
    const claim = { workspaceId: 'w', kind: 'web' } as const
    const seat = dispatch.take(claim, 60_000, leaving.signal).catch(() => undefined)
    coming.resolve({ slot: 'w/0', holder: 'h', claim })
    for (let n = 0; n < later; n++) await undefined
    leaving.abort()
    ;(await seat)?.release('done')
    await setImmediate()
    t.same([...held], [], `${later} steps later`)
    dispatch.stop()
  }
})

t.test('many nodes share the slots of a worker without going over its capacity', async (t) => {
  const one = await startNode(t, { queueWaitMs: 10_000 })
  const { databaseUrl, redisUrl } = one
  const two = await startNode(t, { queueWaitMs: 10_000, databaseUrl, redisUrl })
  const worker = await startWorker(t, [one, two], { capacity: 5 })
  const calls = await Promise.all(Array.from({ length: 12 }, () => makeCall(one)))
  const clients = calls.map(({ token }, i) => new RealtimeClient(i % 2 === 0 ? one : two, token))
  t.teardown(() => {
    for (const client of clients) client.socket.terminate()
  })
  const has = (type: string) => clients.filter(({ messages }) => messages[0]?.type === type).length
  await until(() => has('session.started') + has('session.ended') === 12)
  t.equal(has('session.started'), 5)
  t.equal(has('session.ended'), 7)
  t.equal(worker.activeSessions(), 5)
})

t.test('a node that stops opens no session, lets the running ones finish, and ends those that do not', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])
  const [quick, slow, late] = [await makeCall(node), await makeCall(node), await makeCall(node)]
  const quickClient = await openSession(t, node, quick)
  const slowClient = await openSession(t, node, slow)
  const stopped = node.sessions.stop(10_000)
  t.equal(await upgradeStatus(node, `/realtime?token=${late.token}`), 503)
  quickClient.send({ type: 'text', text: 'hello' })
  await quickClient.got('transcript', { text: '2: hello' })
  quickClient.send({ type: 'end' })
  t.match(await slowClient.got('session.ended'), { reason: 'shutdown' })
  await stopped
  t.match((await endedCall(node, quick)).call, { status: 'completed' })
  t.match((await endedCall(node, slow)).call, { status: 'failed', end_reason: 'shutdown' })
  t.ok(
    (await node.redis.keys('patchbay:session-token:*')).length === 1,
    'the token of the late one can be used elsewhere',
  )
})

t.test('a workspace at its most web sessions gets no further one, and the call log says why', async (t) => {
  const node = await startNode(t, { webSessionsPerWorkspace: 1 })
  await startWorker(t, [node])
  const first = await makeCall(node)
  const session = await openSession(t, node, first)
  const second = await makeCall(node, undefined, first.workspaceId)
  const refused = new RealtimeClient(node, second.token)
  t.match(await refused.got('session.ended'), { reason: 'no_capacity' })
  const { call } = await endedCall(node, second)
  t.match(call, { status: 'failed', end_reason: 'no_capacity' })
  t.match(call.error, /as many web sessions at once as it may/)
  session.send({ type: 'end' })
  await endedCall(node, first)
  await openSession(t, node, await makeCall(node, undefined, first.workspaceId))
})

t.test('twenty sessions of one workspace leave a seat for another', async (t) => {
  const node = await startNode(t, { queueWaitMs: 8_000, shares: { inboundReserve: 0.1, workspaceShare: 0.75 } })
  await startWorker(t, [node], { capacity: 4 })
  const { workspaceId } = await makeCall(node)
  const greedy = await Promise.all(
    Array.from(
      { length: 20 },
      async () => new RealtimeClient(node, (await makeCall(node, undefined, workspaceId)).token),
    ),
  )
  const ends = await Promise.all(
    // Who has to go is told so, then the socket closes: what was said before the end is read after it.
    greedy.map((client) => client.got('session.started').catch(() => client.got('session.ended'))),
  )
  t.equal(ends.filter(({ type }) => type === 'session.started').length, 2)
  await openSession(t, node, await makeCall(node))
})

t.test('a session is looked for a seat at once, however many of another workspace wait', async (t) => {
  const worker = { workerId: 'w', state: 'ready' } as LinkedWorker
  const asked: string[][] = []
  let looking = Promise.withResolvers<void>()
  looking.resolve()
  const dispatch = new Dispatch({
    slots: {
      async take(claims: readonly SlotClaim[]) {
        asked.push(claims.map(({ workspaceId }) => workspaceId))
        await looking.promise
        const claim = claims.find(({ workspaceId }) => workspaceId === 'quiet')
        return claim && { slot: 'w/0', holder: 'h', claim }
      },
      release: async () => true,
      onForgotten: () => () => undefined,
    } as unknown as Slots,
    leases: { holdSlot: () => undefined, dropSlot: () => undefined } as unknown as Leases,
    workers: () => [worker],
    wrapUpMs: 0,
    log: pino({ level: 'silent' }),
    pollMs: 600_000,
  })
  const leaving = new AbortController()
  const take = (workspaceId: string) => dispatch.take({ workspaceId, kind: 'web' }, 600_000, leaving.signal)
  const crowd = Array.from({ length: 50 }, () => take('hostile').catch(() => undefined))
  await until(() => asked.length > 0)
  await setImmediate()
  const looks = asked.length
  crowd.push(take('hostile').catch(() => undefined))
  await setImmediate()
  t.equal(asked.length, looks, 'one more of those who wait is no reason to look')

  const whileResting = await take('quiet')
  looking = Promise.withResolvers()
  const before = asked.length
  whileResting.release('done')
  await until(() => asked.length > before)
  t.same(asked.at(-1), ['hostile'])
  const whileLooking = take('quiet')
  looking.resolve()
  ;(await whileLooking).release('done')
  leaving.abort()
  await Promise.all(crowd)
})
