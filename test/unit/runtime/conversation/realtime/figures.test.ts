import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'tap'
import { RATE_HZ } from '../support/harness.ts'
import { speech } from '../support/speech.ts'
import { realtimeCall } from './setup.ts'
import { DELIVERY, PROMPT, realtimeWorld, WHERE } from './support.ts'

/**
 * What our side adds to a speech-to-speech model. The bounds hold on a machine that does other work; each figure is told as a
 * comment. By hand, on a quiet machine: `REALTIME_ANSWERS=200 REALTIME_BARGE_INS=20`, and for a call that outlives its sessions
 * `REALTIME_CALL_S=600 REALTIME_SESSION_S=60`.
 */
const CALL_S = Number(process.env.REALTIME_CALL_S ?? 30)
const SESSION_S = Number(process.env.REALTIME_SESSION_S ?? 10)
const ANSWERS = Number(process.env.REALTIME_ANSWERS ?? 12)
const BARGE_INS = Number(process.env.REALTIME_BARGE_INS ?? 2)
const LONG = `${PROMPT} ${'Our parking lot is right behind the house and it is open around the clock. '.repeat(4)}`
const PARKING = 'Where can I park around the clock?'

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN
const longestGapMs = (times: readonly number[]): number =>
  Math.max(0, ...times.slice(1).map((at, i) => at - (times[i] ?? at)))

test('our side adds little to the time the model takes: to the question, and to its first sound', async (t) => {
  const world = await realtimeWorld(t)
  const { port, type } = await realtimeCall(t, world)
  const before: number[] = []
  const after: number[] = []
  for (let i = 0; i < ANSWERS; i++) {
    const frames = port.audioAtMs.length
    const typedAtMs = performance.now()
    type(i % 2 === 0 ? WHERE : DELIVERY)
    await port.until('it sounds', () => port.audioAtMs.length > frames)
    before.push((world.askedAtMs[i] ?? Number.NaN) - typedAtMs)
    after.push((port.audioAtMs[frames] ?? Number.NaN) - (world.soundAtMs[i] ?? Number.NaN))
    await port.until('the answer', () => port.said.length === 2 * (i + 1))
  }
  const added = before.map((ms, i) => ms + (after[i] ?? Number.NaN))
  // The first one waits for the session to open, which began with the call.
  const [first = Number.NaN] = added
  const later = (share: number) =>
    [before, after, added].map((values) => quantile(values.slice(1), share).toFixed(1)).join(' / ')
  const told = `p50 ${later(0.5)} ms, p95 ${later(0.95)} ms of ${ANSWERS - 1} answers`
  t.comment(`added before / after / in all: ${told}; the first ${first.toFixed(1)} ms`)
  t.ok(quantile(added, 0.5) < 200, `p50 ${quantile(added, 0.5)} ms`)
})

test('a caller who cuts in has silence soon, and the session holds what they heard', {
  timeout: 600_000,
}, async (t) => {
  const world = await realtimeWorld(t)
  const { port, say, type } = await realtimeCall(t, world, {
    agent: { systemPrompt: LONG },
    utterances: Array.from({ length: BARGE_INS }, () => DELIVERY),
  })
  const waits: number[] = []
  const apart: number[] = []
  const truncated = () => world.told.filter((event) => event.type === 'conversation.item.truncate')
  for (let i = 0; i < BARGE_INS; i++) {
    const loud = port.loudFrames
    const frames = port.audioAtMs.length
    type(PARKING)
    await port.until('the agent speaks', () => port.loudFrames > loud + 40)
    const cut = { atMs: performance.now(), silentAtMs: Number.NaN, frames: 0 }
    port.onClear = () => {
      cut.silentAtMs ||= performance.now()
      cut.frames ||= port.audioAtMs.length - frames
    }
    await say(speech(DELIVERY, RATE_HZ))
    await port.until('the session is told', () => truncated().length === i + 1)
    waits.push(cut.silentAtMs - cut.atMs)
    apart.push(Math.abs(Number(truncated()[i]?.audio_end_ms) - cut.frames * 20))
    await port.until('the answer to what cut in', () => port.said.length === 4 * (i + 1))
  }
  // Whether its echo comes back is learnt in the agent's first seconds: what is said over those is late.
  const [first = Number.NaN, ...later] = waits
  const told = `silence after ${first.toFixed(0)} ms, later p50 ${quantile(later, 0.5).toFixed(0)}, p95 ${quantile(later, 0.95).toFixed(0)} ms`
  t.comment(`${told} of ${later.length}; held and heard are ${Math.max(...apart).toFixed(0)} ms apart at most`)
  t.ok(Math.max(...waits) < 1_500, waits.join())
  t.ok(Math.max(...apart) <= 300, apart.join())
})

test('a call outlives its sessions: no answer waits or pauses for the next one', { timeout: 2_000_000 }, async (t) => {
  const world = await realtimeWorld(t, { sessionMs: SESSION_S * 1_000 })
  const { port, type } = await realtimeCall(t, world, {
    own: { realtimeSessionS: SESSION_S },
    agent: { systemPrompt: LONG },
    open: { limits: { idleMs: 3_600_000, maxDurationMs: 3_600_000 } },
  })
  const endMs = performance.now() + CALL_S * 1_000
  const waits: number[] = []
  const gaps: number[] = []
  while (performance.now() < endMs) {
    const frames = port.audioAtMs.length
    const turns = port.said.length
    const typedAtMs = performance.now()
    type(PARKING)
    await port.until('the answer', () => port.said.length === turns + 2)
    const times = port.audioAtMs.slice(frames)
    waits.push((times[0] ?? Number.NaN) - typedAtMs)
    gaps.push(longestGapMs(times))
    await sleep(200)
  }
  const told = `${waits.length} answers in ${world.sessions()} sessions: longest wait ${Math.max(...waits).toFixed(0)} ms`
  t.comment(`${told}, longest gap in an answer ${Math.max(...gaps).toFixed(0)} ms`)
  t.ok(world.sessions() >= CALL_S / SESSION_S, `${world.sessions()} sessions`)
  t.ok(Math.max(...gaps) < 1_500, `${Math.max(...gaps)} ms`)
  t.strictSame(port.faults, [])
  t.strictSame(world.refused, [])
})

test('what takes the place of a session that breaks off is heard soon, and no word is lost', async (t) => {
  const world = await realtimeWorld(t)
  const { port, type } = await realtimeCall(t, world, { fallback: 'It opens at nine.' })
  world.double.faults.set({ kind: 'disconnect', after: 22 }, 1)
  type(WHERE)
  await port.until('the rest was said', () => port.said.some((said) => said.endsWith('It opens at nine.')))
  const gapMs = longestGapMs(port.audioAtMs)
  t.comment(`the longest gap is ${gapMs.toFixed(0)} ms: “${port.said[1]}”`)
  t.ok(gapMs < 2_000, `${gapMs} ms`)
  t.match(port.said[1], /^assistant: The shop .*It opens at nine\.$/)
})
