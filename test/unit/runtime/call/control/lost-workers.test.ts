import t from 'tap'
import WebSocket from 'ws'
import {
  afterLoss,
  countOfLost,
  NO_LOST_WORKERS,
  pauseAfterLossMs,
  workerLost,
} from '../../../../../runtime/call/control/lost-workers.ts'
import type { OpenSession } from '../../../../../runtime/call/link/messages.ts'
import {
  endedCall,
  LINK_TOKEN,
  makeCall,
  openSession,
  RealtimeClient,
  type RealtimeNode,
  startNode,
  startWorker,
  until,
} from '../../../../support/instance/realtime-node.ts'

/** Workers lost one after the other: the caller's turns, the agent's answers, and when. */
function play(losses: readonly (readonly [turns: number, answers: number, atMs: number])[], from = NO_LOST_WORKERS) {
  let lost = from
  const outcomes = losses.map(([turns, answers, atMs]) => {
    lost = workerLost(lost, turns, answers, atMs)
    return afterLoss(lost)
  })
  return { lost, outcomes }
}

t.test('three in a row leave something out, six give the call up', (t) => {
  const { outcomes } = play([1, 2, 3, 4, 5, 6].map((i) => [1, 0, i * 1_000] as const))
  t.same(outcomes, ['go_on', 'go_on', 'leave_out', 'go_on', 'go_on', 'give_up'])
  t.end()
})

t.test('a turn of the caller, and a worker that ran long, begin a new row', (t) => {
  const rows = play([
    [1, 0, 0],
    [1, 0, 1],
    [2, 0, 2],
    [2, 0, 3],
  ])
  t.same(rows.outcomes, ['go_on', 'go_on', 'go_on', 'go_on'])
  const long = play(
    [
      [2, 0, 60_004],
      [2, 0, 60_005],
    ],
    { ...rows.lost, acceptedAtMs: 4 },
  )
  t.same(long.outcomes, ['go_on', 'go_on'])
  t.end()
})

t.test('a call loses twenty workers at most without an answer between them', (t) => {
  const { lost, outcomes } = play(Array.from({ length: 20 }, (_, turn) => [turn, 0, turn] as const))
  t.equal(outcomes.indexOf('give_up'), 19)
  t.equal(countOfLost(lost), '20 voice workers were lost without an answer between them')
  t.end()
})

t.test('a call whose caller is answered after each loss goes on', (t) => {
  const { outcomes } = play(Array.from({ length: 200 }, (_, turn) => [turn, turn, turn] as const))
  t.ok(outcomes.every((outcome) => outcome === 'go_on'))
  t.end()
})

t.test('a call waits before it is offered again where its second worker in a row was lost', (t) => {
  const first = play([[1, 0, 1_000]]).lost
  t.equal(pauseAfterLossMs(first, 1_000), 0)
  const second = workerLost(first, 1, 0, 1_100)
  t.equal(pauseAfterLossMs(second, 1_200), 1_400)
  t.equal(pauseAfterLossMs(second, 2_600), 0)
  const fourth = workerLost(workerLost(second, 1, 0, 3_000), 1, 0, 6_000)
  t.equal(pauseAfterLossMs(fourth, 6_000), 3_000)
  t.equal(pauseAfterLossMs(workerLost(fourth, 2, 0, 9_000), 9_000), 0)
  t.end()
})

/** A worker that dies of every session, and is there again. */
function mortal(node: RealtimeNode, workerId: string, takes: (send: (message: object) => void) => void) {
  const offers: { session: number }[] = []
  let over = false
  const dial = () => {
    if (over) return
    const socket = new WebSocket(`${node.url}/link`, { headers: { authorization: `Bearer ${LINK_TOKEN}` } })
    const send = (message: object) => socket.send(JSON.stringify(message))
    socket.on('error', () => undefined)
    socket.on('open', () => {
      send({ type: 'hello', protocol: 2, workerId, capacity: 2, metricsUrl: 'http://127.0.0.1/' })
      send({ type: 'heartbeat', state: 'ready', activeSessions: 0, capacity: 2 })
    })
    const beating = setInterval(() => {
      if (socket.readyState !== WebSocket.OPEN) return
      send({ type: 'heartbeat', state: 'ready', activeSessions: 0, capacity: 2 })
    }, 500)
    socket.on('message', (data, isBinary) => {
      const message = isBinary ? {} : (JSON.parse(String(data)) as { type?: string; session?: number })
      if (message.type !== 'open') return
      const { session } = message as { session: number }
      offers.push({ session })
      takes((more) => send({ session, ...more }))
      setTimeout(() => socket.terminate(), 100)
    })
    socket.on('close', () => {
      clearInterval(beating)
      setTimeout(dial, 20)
    })
    stop = () => {
      over = true
      clearInterval(beating)
      socket.terminate()
    }
  }
  let stop = () => {}
  dial()
  return { offers, stop: () => stop() }
}

t.test('a call that kills who is to open it is not offered without end', async (t) => {
  const node = await startNode(t)
  const { offers, stop } = mortal(node, 'mortal', () => undefined)
  t.teardown(stop)
  await until(() => node.sessions.workers().length === 1)
  const waiting = await makeCall(node)
  new RealtimeClient(node, waiting.token)
  const { call } = await endedCall(node, waiting)
  t.match(call, { status: 'failed', end_reason: 'error', error: /3 voice workers were lost in a row/ })
  t.equal(offers.length, 3)
})

t.test('a greeting that kills its workers is left out', async (t) => {
  const node = await startNode(t)
  const { offers, stop } = mortal(node, 'mortal', (send) => {
    send({ type: 'accepted' })
    send({ type: 'event', event: { type: 'greeting', step: 'first_message' } })
    send({ type: 'event', event: { type: 'said', text: '!'.repeat(90_000) } })
  })
  t.teardown(stop)
  await until(() => node.sessions.workers().length === 1)
  const waiting = await makeCall(node)
  await openSession(t, node, waiting)
  const state = () => node.sessions.calls.stateOf(waiting.callId)
  await until(() => (state()?.faults.length ?? 0) > 0)
  stop()
  const told = Promise.withResolvers<OpenSession>()
  await startWorker(t, [node], {
    openConversation: async (open) => {
      told.resolve(open)
      return { audio: () => {}, input: () => {}, played: () => {}, close: async () => {} }
    },
  })
  const { resume } = await told.promise
  t.match(resume, { greeting: 'done', said: undefined })
  t.match(state()?.faults, [/3 voice workers were lost in a row.*first message/])
  t.ok(offers.length <= 4)
})
