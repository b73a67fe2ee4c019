import { llm, stt, type tts } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import type { Test } from 'tap'
import { explainFailure, type ProviderFault } from '../../runtime/plugin-sdk/provider-error.ts'
import type { Fault, Faults } from '../support/providers/doubles/faults.ts'
import { ownTime } from '../support/world/own-time.ts'
import { collect, errorsOf, inTime, ONE_ATTEMPT, silence, withInstance } from './support.ts'

/** What every plugin of a speech or language provider must make of its provider's faults. */

export interface FaultSuite {
  faults: Faults
  /** Must not be part of any error. */
  key: string
  /** Whether the provider says in its own messages that it can't go on. */
  inBand: boolean
}

/** What is told of a failed exchange. */
interface Told {
  errors: { error: Error; recoverable: boolean }[]
  /** Pieces of an answer, frames of audio or final words that came all the same. */
  pieces: number
}

const SLOW_MS = 300
const LIMIT_MS = 90_000
/** Given up after this; frameworks wait ten seconds unless they are told. */
const HANG_MS = 500
const GIVEN_UP_MS = 9_000
const REFUSALS: readonly [status: number, code: string | undefined, fault: ProviderFault, retryable: boolean][] = [
  [401, undefined, 'authentication', false],
  [402, undefined, 'quota', false],
  [429, 'insufficient_quota', 'quota', false],
  [429, undefined, 'rate_limit', true],
  [400, undefined, 'bad_request', false],
  [500, undefined, 'transient', true],
  [503, undefined, 'transient', true],
]

async function runFaults(t: Test, { faults, key, inBand }: FaultSuite, use: (timeoutMs?: number) => Promise<Told>) {
  const under = async (fault: Fault, check: (told: Told) => void, timeoutMs?: number) => {
    faults.set(fault)
    try {
      check(await inTime(use(timeoutMs), LIMIT_MS, `the end under ${fault.kind}`))
    } finally {
      faults.clear()
    }
  }
  const judged = (t: Test, { errors }: Told, fault: ProviderFault, retryable: boolean) => {
    t.equal(errors.length, 1, 'it is told once')
    const [told] = errors
    const failure = explainFailure({ title: '' }, told?.error)
    t.equal(failure.fault, fault, `${told?.error.message}`)
    t.equal(failure.retryable, retryable)
    t.ok((told?.error.message.length ?? 0) > 20, 'in words')
    t.notMatch(JSON.stringify([told?.error.message, told?.error.stack, told?.error]), new RegExp(key))
  }

  for (const [status, code, fault, retryable] of REFUSALS) {
    await t.test(`a refusal with ${status}${code ? ` ${code}` : ''} is told as ${fault}`, async (t) => {
      await under({ kind: 'refuse', status, ...(code && { code }) }, (told) => judged(t, told, fault, retryable))
    })
  }
  if (inBand) {
    for (const [status, code, fault] of [
      [402, 'quota_exceeded', 'quota'],
      [500, 'internal_error', 'transient'],
    ] as const) {
      await t.test(`a refusal in its own messages (${code}) is told as ${fault}`, async (t) => {
        await under({ kind: 'error', status, code, message: code.replace('_', ' ') }, (told) => {
          judged(t, told, fault, fault === 'transient')
        })
      })
    }
  }
  await t.test('a slow start is waited for', async (t) => {
    await under({ kind: 'slow', firstMs: SLOW_MS }, ({ errors, pieces }) => {
      t.same(errors, [])
      t.ok(pieces > 0)
    })
  })
  await t.test('a connection cut in the middle is told as transient', async (t) => {
    await under({ kind: 'disconnect', after: 2 }, ({ errors }) => {
      t.equal(errors.length, 1)
      t.equal(explainFailure({ title: '' }, errors[0]?.error).fault, 'transient', `${errors[0]?.error.message}`)
    })
  })
  await t.test('a provider that never answers is given up in time', async (t) => {
    const passedMs = ownTime(t)
    await under({ kind: 'hang' }, (told) => judged(t, told, 'transient', true), HANG_MS)
    t.ok(passedMs() < GIVEN_UP_MS, `after ${passedMs()} ms`)
  })
}

export function runLlmFaults(t: Test, suite: FaultSuite & { make: () => Promise<llm.LLM> }): Promise<void> {
  return runFaults(t, { ...suite, inBand: false }, async (timeoutMs) => {
    const told: Told = { errors: [], pieces: 0 }
    await withInstance(suite.make, async (model) => {
      told.errors = errorsOf(model)
      const chatCtx = llm.ChatContext.empty()
      chatCtx.addMessage({ role: 'system', content: 'The shop is at 12 Pier Street. It opens at nine.' })
      chatCtx.addMessage({ role: 'user', content: 'Where is the shop?' })
      const connOptions = { ...ONE_ATTEMPT, ...(timeoutMs && { timeoutMs }) }
      const chunks = await collect(model.chat({ chatCtx, connOptions }), LIMIT_MS)
      told.pieces = chunks.filter(({ delta }) => delta?.content).length
    })
    return told
  })
}

export async function runTtsFaults(t: Test, suite: FaultSuite & { make: () => Promise<tts.TTS> }): Promise<void> {
  const speak = async (timeoutMs?: number): Promise<Told> => {
    const told: Told = { errors: [], pieces: 0 }
    await withInstance(suite.make, async (engine) => {
      told.errors = errorsOf(engine)
      const stream = engine.stream({ connOptions: { ...ONE_ATTEMPT, ...(timeoutMs && { timeoutMs }) } })
      stream.pushText('We are open from nine to five. The shop is at the pier.')
      stream.endInput()
      const items = await collect<tts.SynthesizedAudio | symbol>(stream, LIMIT_MS)
      told.pieces = items.filter((item) => typeof item !== 'symbol').length
      stream.close()
    })
    return told
  }
  await runFaults(t, suite, speak)
  if (!suite.inBand) return
  await t.test('frames that make no sense are passed over', async (t) => {
    suite.faults.set({ kind: 'malformed', count: 4 })
    const { errors, pieces } = await speak()
    suite.faults.clear()
    t.same(errors, [])
    t.ok(pieces > 10)
  })
}

export async function runSttFaults(
  t: Test,
  suite: FaultSuite & { make: () => Promise<stt.STT>; speech: { frames: readonly AudioFrame[]; text: string } },
): Promise<void> {
  const { frames, text } = suite.speech
  const hear = async (timeoutMs?: number): Promise<Told & { heard: string }> => {
    const told: Told & { heard: string } = { errors: [], pieces: 0, heard: '' }
    await withInstance(suite.make, async (engine) => {
      told.errors = errorsOf(engine)
      const stream = engine.stream({ connOptions: { ...ONE_ATTEMPT, ...(timeoutMs && { timeoutMs }) } })
      for (const frame of [...frames, ...silence(1_500, frames[0]?.sampleRate ?? 16_000)]) stream.pushFrame(frame)
      stream.endInput()
      const events = await collect(stream, LIMIT_MS)
      stream.close()
      const finals = events.filter(({ type }) => type === stt.SpeechEventType.FINAL_TRANSCRIPT)
      told.pieces = finals.length
      told.heard = finals.map(({ alternatives }) => alternatives?.[0].text).join(' ')
    })
    return told
  }
  await runFaults(t, suite, hear)
  if (!suite.inBand) return
  await t.test('frames that make no sense are passed over', async (t) => {
    suite.faults.set({ kind: 'malformed', count: 4 })
    const { errors, heard } = await hear()
    suite.faults.clear()
    t.same(errors, [])
    t.equal(heard, text)
  })
}
