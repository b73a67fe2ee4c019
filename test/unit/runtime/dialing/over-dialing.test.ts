import t from 'tap'
import { type AnswerHistory, NO_HISTORY } from '../../../../runtime/dialing/over-dialing.ts'
import { pace } from '../../../../runtime/dialing/pacing.ts'
import { seeded } from '../../../support/phone/numbers.ts'

/** A campaign on a clock of its own: seats, callees and the pacing that the dialer uses, nothing else. */

interface Population {
  /** Of all calls, those that pick up; how long they ring, and nobody answers the others. */
  pickUp: number
  ringS: readonly [number, number]
  noAnswerS: number
  talkS: readonly [number, number]
}

const TICK_MS = 10_000
const HOUR = { lengthMs: 3_600_000, stepMs: 200, warmMs: 600_000 }
const DAY = { lengthMs: 12 * 3_600_000, stepMs: 800, warmMs: 600_000 }
const WAIT_MS = 1_600
const WRAP_UP_MS = 3_000
/** As store/campaigns/campaign-status.ts reads them. */
const LEAST_RECENT = 300
const MOST_RECENT = 1_000
const RECENT_MS = 120_000

interface SimulatedCall {
  state: 'ringing' | 'waiting' | 'talking'
  answers: boolean
  untilMs: number
  seated: boolean
  share: number
}

/** Part of the seats in use, and of those who picked up the part that was abandoned. */
function play(callRatio: number, seats: number, people: Population, seed: number, { lengthMs, stepMs, warmMs } = HOUR) {
  const random = seeded(seed)
  const between = ([least, most]: readonly [number, number]) => (least + random() * (most - least)) * 1_000
  let calls: SimulatedCall[] = []
  /** When each seat that rests is free again. */
  let resting: number[] = []
  const decided: { pickedUp: boolean; atMs: number }[] = []
  const answers: { atMs: number; abandoned: boolean }[] = []
  let [inUse, steps] = [0, 0]
  const decide = (pickedUp: boolean, atMs: number) => {
    decided.push({ pickedUp, atMs })
    if (decided.length > MOST_RECENT) decided.shift()
  }
  for (let nowMs = 0; nowMs < lengthMs; nowMs += stepMs) {
    resting = resting.filter((untilMs) => untilMs > nowMs)
    let free = seats - resting.length - calls.filter(({ seated }) => seated).length
    for (const call of calls) {
      if (call.state === 'ringing' && call.untilMs <= nowMs) {
        decide(call.answers, nowMs)
        if (!call.answers) call.untilMs = -1
        else {
          call.state = 'waiting'
          call.untilMs = nowMs + WAIT_MS
        }
      }
      if (call.state === 'waiting') {
        if (call.seated || free > 0) {
          if (!call.seated) free--
          Object.assign(call, { state: 'talking', seated: true, untilMs: nowMs + between(people.talkS) })
          answers.push({ atMs: nowMs, abandoned: false })
        } else if (call.untilMs <= nowMs) {
          answers.push({ atMs: nowMs, abandoned: true })
          call.untilMs = -1
        }
      } else if (call.state === 'talking' && call.untilMs <= nowMs) {
        resting.push(nowMs + WRAP_UP_MS)
        call.untilMs = -1
      }
    }
    calls = calls.filter(({ untilMs }) => untilMs >= 0)
    if (nowMs % TICK_MS === 0) {
      const ringing = calls.filter(({ state }) => state === 'ringing')
      const waiting = calls.filter(({ state }) => state === 'waiting').length
      const talking = calls.filter(({ state }) => state === 'talking').length
      const reckoned = calls.reduce((sum, { state, share }) => (state === 'talking' ? sum : sum + share), 0)
      const ready = seats - resting.length - calls.filter(({ seated }) => seated).length
      const open = Math.max(
        0,
        Math.floor(
          ready - calls.reduce((sum, one) => (one.seated || one.state === 'talking' ? sum : sum + one.share), 0) + 1e-6,
        ),
      )
      const since = answers.filter(({ atMs }) => atMs > nowMs - 60_000)
      const recent = decided.filter(({ atMs }, i) => i >= decided.length - LEAST_RECENT || atMs > nowMs - RECENT_MS)
      const history: AnswerHistory = {
        recent: { attempts: recent.length, pickedUp: recent.filter(({ pickedUp }) => pickedUp).length },
        month: { live: answers.length, abandoned: answers.filter(({ abandoned }) => abandoned).length },
        minute: { live: since.length, abandoned: since.filter(({ abandoned }) => abandoned).length },
      }
      if (open > 0) {
        const load = { seats: open + reckoned, placing: 0, ringing: ringing.length, waiting, talking }
        const limits = { callRatio, pacing: 'predictive' as const, maxActiveCalls: 0, numberRoom: undefined }
        const { place, effectiveRatio } = pace(load, limits, callRatio > 1 ? history : NO_HISTORY)
        const own = effectiveRatio <= 1
        const made = own ? Math.min(place, open) : place
        for (let i = 0; i < made; i++) {
          const answers = random() < people.pickUp
          const ringMs = answers ? between(people.ringS) : people.noAnswerS * 1_000
          const share = own ? 1 : Math.min(1 / effectiveRatio, open / made)
          calls.push({ state: 'ringing', answers, untilMs: nowMs + ringMs, seated: own, share })
        }
      }
    }
    if (nowMs >= warmMs) {
      inUse += calls.filter(({ state }) => state === 'talking').length
      steps++
    }
  }
  const abandoned = answers.filter((one) => one.abandoned).length
  return { inUse: inUse / steps / seats, abandoned: abandoned / Math.max(1, answers.length), answers: answers.length }
}

const CAMPAIGNS: Readonly<Record<string, [number, Population]>> = {
  'cold calls on 250 seats': [250, { pickUp: 0.06, ringS: [4, 14], noAnswerS: 28, talkS: [15, 75] }],
  'customers on 100 seats': [100, { pickUp: 0.3, ringS: [3, 15], noAnswerS: 25, talkS: [40, 180] }],
  'customers on 30 seats': [30, { pickUp: 0.3, ringS: [3, 15], noAnswerS: 25, talkS: [40, 180] }],
  'nearly everybody answers': [60, { pickUp: 0.85, ringS: [3, 10], noAnswerS: 25, talkS: [30, 90] }],
}

t.test('an hour of over-dialling abandons one in a hundred at most, and keeps more seats in use', async (t) => {
  for (const [name, [seats, people]] of Object.entries(CAMPAIGNS)) {
    const one = play(1, seats, people, 1)
    t.equal(one.abandoned, 0, `${name}: a seat for each call abandons nobody`)
    const many = [1, 2, 3].map((seed) => play(10, seats, people, seed))
    for (const { abandoned, answers } of many) t.ok(abandoned <= 0.01, `${name}: ${abandoned} of ${answers}`)
    const gain = many.reduce((sum, { inUse }) => sum + inUse, 0) / many.length / one.inUse
    t.comment(`${name}: ${one.inUse.toFixed(3)} of the seats, ${gain.toFixed(2)} times as many`)
    t.ok(gain >= (people.pickUp > 0.5 ? 0.98 : 1.15), `${name}: ${gain}`)
  }
})

t.test('a day at any answer rate abandons no more than the law allows', async (t) => {
  for (let percent = 5; percent <= 95; percent += 5) {
    for (const seats of [4, 25]) {
      const people: Population = { pickUp: percent / 100, ringS: [3, 15], noAnswerS: 25, talkS: [30, 120] }
      const { abandoned, answers } = play(2, seats, people, percent + seats, DAY)
      t.ok(abandoned <= 0.03, `${percent} % answer on ${seats} seats: ${abandoned} of ${answers} abandoned`)
    }
  }
})
