import fc from 'fast-check'
import t from 'tap'
import type { CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { stagesOf } from '../../../../../runtime/call/path.ts'
import { languageOf } from '../../../../../runtime/conversation/languages/index.ts'
import type { Report } from '../../../../../runtime/conversation/stages/signal.ts'
import { Stages } from '../../../../../runtime/conversation/stages/stage.ts'
import { type ConversationState, foldReport, initialState } from '../../../../../runtime/conversation/stages/state.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'
import { resumeAfter } from '../support/resume-after.ts'

const input = (event: CallEventBody): Report => ({ type: 'input', event: { ...event, seq: 0, at: 0 } })

t.test('a worker that takes a call over begins with the state of the worker before', async (t) => {
  const state = initialState({ ...resumeAfter([]), held: true, muted: true, takenOver: true })
  t.match(state, { held: true, muted: true, takenOver: true, agentSpeaks: false, callerSpeaks: false })
  t.match(initialState(undefined), { held: false, muted: false, takenOver: false, agentState: 'listening' })
})

t.test('the state is what the last report of its kind said', async (t) => {
  const reports = fc.constantFrom<Report>(
    { type: 'voice_started', purpose: 'reply' },
    { type: 'voice_ended', text: '', startMs: 0, endMs: 0, interrupted: false },
    { type: 'speech_started', atMs: 0 },
    { type: 'speech_ended', atMs: 0 },
    { type: 'uninterruptible', on: true },
    { type: 'uninterruptible', on: false },
    { type: 'taken_over', on: true },
    { type: 'taken_over', on: false },
    { type: 'stt_unavailable', sinceMs: 7 },
    { type: 'stt_unavailable', sinceMs: undefined },
    { type: 'muted' },
    { type: 'tick' },
    input({ type: 'held', direction: 'sendonly' }),
    input({ type: 'unheld' }),
    input({ type: 'typed', text: 'hi' }),
  )
  const last = (all: readonly Report[], on: (one: Report) => boolean | undefined): boolean =>
    all.map(on).findLast((one) => one !== undefined) ?? false
  fc.assert(
    fc.property(fc.array(reports, { maxLength: 30 }), (all) => {
      const state = all.reduce(foldReport, initialState(undefined))
      const isInput = (one: Report, type: string) => one.type === 'input' && one.event.type === type
      t.match(state, {
        agentSpeaks: last(all, ({ type }) =>
          type === 'voice_started' ? true : type === 'voice_ended' ? false : undefined,
        ),
        callerSpeaks: last(all, ({ type }) =>
          type === 'speech_started' ? true : type === 'speech_ended' ? false : undefined,
        ),
        uninterruptible: last(all, (one) => (one.type === 'uninterruptible' ? one.on : undefined)),
        takenOver: last(all, (one) => (one.type === 'taken_over' ? one.on : undefined)),
        muted: all.some(({ type }) => type === 'muted'),
        held: last(all, (one) => (isInput(one, 'held') ? true : isInput(one, 'unheld') ? false : undefined)),
      } satisfies Partial<ConversationState>)
    }),
  )
})

t.test('every stage sees the state that a report leads to, also where an earlier stage kept the report', async (t) => {
  const open = {
    session: 1,
    callId: 'c',
    format: { encoding: 'pcmu', sampleRateHz: 8_000 },
    limits: { idleMs: 30_000, maxDurationMs: 600_000 },
    elapsedMs: 0,
    agent: AGENT_SPEC,
    resume: { ...resumeAfter([]), muted: true },
  } as const
  const seen: boolean[] = []
  const stages = new Stages(
    [
      ...stagesOf({ open, callMs: (atMs) => atMs, language: () => languageOf('en'), tag: () => 'en', nowMs: () => 0 }),
      {
        name: 'last',
        on(report, { held }) {
          if (report.type === 'tick') seen.push(held)
          return undefined
        },
      },
    ],
    initialState(open.resume),
    () => 0,
    () => {},
  )
  // The answerer keeps every input of a machine from the stages behind it.
  stages.report(input({ type: 'held', direction: 'sendonly' }))
  stages.report({ type: 'tick' })
  stages.report(input({ type: 'unheld' }))
  stages.report({ type: 'tick' })
  t.same(seen, [true, false])
})
