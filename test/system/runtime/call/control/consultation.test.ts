import { mock } from 'node:test'
import t from 'tap'
import { Consultation } from '../../../../../runtime/call/control/consultation.ts'
import type { ClaimedSlot } from '../../../../../runtime/call/control/dispatch.ts'
import type { LinkEvents } from '../../../../../runtime/call/link/api-end.ts'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'
import type { Leg, LegEvents } from '../../../../../runtime/call/types/leg.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'

/** What a worker does with the conversation it is offered. */
type Worker = (events: LinkEvents) => void

const accepts: Worker = ({ message }) => message({ type: 'accepted', session: 1 })
const rejects =
  (reason: 'full' | 'draining' | 'overloaded' | 'bad_agent' | 'failed'): Worker =>
  ({ message }) =>
    message({ type: 'rejected', session: 1, reason, message: `it is ${reason}` })
const answers =
  (consent: 'given' | 'refused' | 'unanswered'): Worker =>
  (events) => {
    accepts(events)
    events.message({ type: 'event', session: 1, event: { type: 'consent', consent } })
  }
const ends =
  (reason: 'idle' | 'error' | 'worker_drained', error?: string): Worker =>
  (events) => {
    accepts(events)
    events.message({ type: 'ended', session: 1, reason, ...(error === undefined ? {} : { error }) })
  }
const dies: Worker = (events) => {
  accepts(events)
  events.lost('no heartbeat')
}

/** Somebody who picked up, and the workers that are free, in their order. */
function consult(workers: Worker[]) {
  const given: string[] = []
  const told: string[] = []
  const faults: string[] = []
  const used: CallEventBody[] = []
  const heard: Uint8Array[] = []
  let human: LegEvents | undefined
  let clears = 0
  const leg: Leg = {
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    start: (events) => {
      human = events
    },
    answer: () => told.push('answered'),
    sendAudio: (bytes) => heard.push(bytes),
    clear: () => clears++,
    mark: () => undefined,
    agentState: () => undefined,
    transcript: () => undefined,
    error: () => undefined,
    close: () => undefined,
  }
  const seatOf = (worker: Worker): ClaimedSlot => ({
    worker: {
      ...{ workerId: 'w', capacity: 1, activeSessions: 0, state: 'ready', metricsUrl: '', pool: '' },
      warm: () => undefined,
      drain: () => undefined,
      reload: () => undefined,
      sendKeys: () => undefined,
      open: (_open, events) => {
        queueMicrotask(() => worker(events))
        return {
          audio: () => told.push('audio'),
          event: (event) => told.push(event.type === 'key' ? event.digit : event.type),
          played: () => undefined,
          close: async (reason) => void told.push(`closed: ${reason}`),
        }
      },
    },
    release: (why) => void given.push(why),
  })
  const consultation = new Consultation({
    ...{ callId: 'c', agent: AGENT_SPEC, leg, clock: systemClock },
    takeSeat: async () => {
      const worker = workers.shift()
      if (worker === undefined) throw new Error('no seat')
      return seatOf(worker)
    },
    tell: (event) => {
      if (event.type === 'fault') faults.push(event.sentence)
      else used.push(event)
    },
  })
  return { consultation, given, told, faults, used, heard, human: () => human!, clears: () => clears }
}

t.test('the human’s answer is the verdict, and the seat is given back', async (t) => {
  for (const [consent, verdict] of [
    ['given', 'accepted'],
    ['refused', 'refused'],
    ['unanswered', 'unanswered'],
  ] as const) {
    const { consultation, given, told, faults } = consult([answers(consent)])
    t.equal(await consultation.verdict, verdict)
    t.same(given, ['done'])
    t.same(told, ['answered', `closed: ${verdict}`])
    t.same(faults, [])
  }
  t.equal(await consult([ends('idle')]).consultation.verdict, 'unanswered', 'one who says nothing')
})

t.test('a worker that can’t ask, or dies of it, is followed by another, and each reason is told', async (t) => {
  for (const [worker, released, why] of [
    [rejects('full'), 'full', /it is full/],
    [rejects('failed'), 'failed', /it is failed/],
    [rejects('overloaded'), 'done', /it is overloaded/],
    [rejects('draining'), 'done', /it is draining/],
    [ends('worker_drained'), 'done', /it stops/],
    [dies, 'lost', /no heartbeat/],
  ] as const) {
    const { consultation, given, faults, told, clears } = consult([worker, answers('given')])
    t.equal(await consultation.verdict, 'accepted')
    t.same(given, [released, 'done'])
    t.match(faults, [why])
    t.equal(faults.length, 1)
    t.equal(told.filter((what) => what === 'answered').length, 1, 'the leg is answered once')
    t.equal(clears(), 2, 'nothing of the first question is left to be played')
  }
})

t.test('where no worker is free, or three can’t ask, the human was not asked', async (t) => {
  t.equal(await consult([]).consultation.verdict, 'unasked')
  const { consultation, given, faults } = consult([dies, dies, dies, answers('given')])
  t.equal(await consultation.verdict, 'unasked')
  t.same(given, ['lost', 'lost', 'lost'])
  t.equal(faults.length, 3)
})

t.test('a conversation that no worker can have is given up at once, with its reason', async (t) => {
  for (const [worker, why] of [
    [rejects('bad_agent'), 'it is bad_agent'],
    [ends('error', 'The tts provider failed'), 'The tts provider failed'],
  ] as const) {
    const { consultation, given, faults } = consult([worker, answers('given')])
    t.equal(await consultation.verdict, 'failed')
    t.same(faults, [why])
    t.same(given, ['done'])
  }
})

t.test('what the conversation used and what failed in it is told of the call', async (t) => {
  const { consultation, used, faults } = consult([
    (events) => {
      answers('given')(events)
      events.late({ type: 'usage', stage: 'tts', characters: 3 })
    },
  ])
  await consultation.verdict
  t.match(used, [{ type: 'usage', characters: 3 }])
  const failing = consult([
    ({ message }) => {
      message({ type: 'event', session: 1, event: { type: 'fault', stage: 'tts', sentence: 'went on with another' } })
      message({ type: 'event', session: 1, event: { type: 'consent', consent: 'given' } })
    },
  ])
  await failing.consultation.verdict
  t.same([faults, failing.faults], [[], ['went on with another']])
})

t.test(
  'the human’s sound and keys go to the worker that asks, and to who is next once they are handed over',
  async (t) => {
    const asking = Promise.withResolvers<LinkEvents>()
    const { consultation, told, heard, human } = consult([
      (events) => {
        accepts(events)
        asking.resolve(events)
      },
    ])
    const events = await asking.promise
    human().audio(new Uint8Array(1), 0)
    human().dtmf('1')
    events.audio(new Uint8Array(2), 0)
    t.same(told, ['answered', 'audio', '1'])
    t.equal(heard.length, 1)
    events.message({ type: 'event', session: 1, event: { type: 'consent', consent: 'given' } })
    t.equal(await consultation.verdict, 'accepted')
    const next: string[] = []
    consultation.handOver({
      audio: () => next.push('audio'),
      text: () => undefined,
      dtmf: (digit) => next.push(digit),
      played: () => undefined,
      ended: (reason) => next.push(reason),
    })
    human().audio(new Uint8Array(1), 160)
    human().dtmf('2')
    human().ended('caller_hangup')
    t.same(next, ['audio', '2', 'caller_hangup'])
    t.same(told, ['answered', 'audio', '1', 'closed: accepted'])
  },
)

t.test(
  'who hangs up while they wait to be asked has refused, and the seat that comes then is given back',
  async (t) => {
    const { consultation, given, human } = consult([answers('given')])
    human().ended('caller_hangup')
    t.equal(await consultation.verdict, 'refused')
    await new Promise(setImmediate)
    t.same(given, ['done'])
  },
)

t.test('a caller who is gone ends the question', async (t) => {
  const { consultation, given, told } = consult([accepts])
  await new Promise(setImmediate)
  consultation.cancel()
  t.equal(await consultation.verdict, 'failed')
  t.same(given, ['done'])
  t.same(told, ['answered', 'closed: failed'])
})

t.test('a worker that does not answer the offer is not waited for, one that did has its time', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { consultation, given, faults } = consult([() => undefined, accepts])
  await new Promise(setImmediate)
  mock.timers.tick(12_000)
  await new Promise(setImmediate)
  t.same(given, ['lost'])
  t.match(faults, [/no answer to the offer/])
  mock.timers.tick(60_000)
  await new Promise(setImmediate)
  t.same(given, ['lost'], 'the second one asks')
  consultation.cancel()
  t.equal(await consultation.verdict, 'failed')
})
