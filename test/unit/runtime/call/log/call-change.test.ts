import t from 'tap'
import { changeOf } from '../../../../../runtime/call/log/call-change.ts'
import { entriesOf, entryOf, partsOf, tableOf } from '../../../../../runtime/call/log/call-entry.ts'
import { CallLog } from '../../../../../runtime/call/log/call-log.ts'
import type { CallEvent, CallEventBody } from '../../../../../runtime/call/log/events.ts'

const TURN = { type: 'turn', text: 'hi', start_ms: 0, end_ms: 1 } as const
const SAID = { type: 'heard', text: 'hello', start_ms: 2, end_ms: 3, interrupted: true, final: true } as const
const ENDED = { type: 'ended', status: 'failed', end_reason: 'error', disposition: 'failed', error: 'why' } as const
const USED = { type: 'usage', stage: 'llm', input_tokens: 1, output_tokens: 2 } as const

function logged(...bodies: CallEventBody[]): CallEvent[] {
  const events: CallEvent[] = []
  const log = new CallLog({ nowMs: () => 1_000 }, [(event) => void events.push(event)])
  for (const body of bodies) log.append(body)
  return events
}

t.test('events change the row of their call together', async (t) => {
  const who = { id: 'u', name: 'Ada' }
  const change = changeOf(
    logged(
      { type: 'ringing' },
      { type: 'carrier', call_id: 'c', trunk: 'peer' },
      { type: 'picked_up' },
      { type: 'answered' },
      { type: 'carrier', sip_status: 200 },
      TURN,
      { ...SAID, text: '' },
      SAID,
      USED,
      { type: 'usage', stage: 'stt', seconds: 0.5 },
      USED,
      { type: 'latency', endpointing_ms: 0, stt_ms: 0, llm_ms: 0, tts_ms: 0, total_ms: 100 },
      { type: 'answered_by', by: 'machine', source: 'carrier' },
      { type: 'answered_by', by: 'human', source: 'agent' },
      { type: 'consent', consent: 'given' },
      { type: 'media', mos: 4 },
      { type: 'media', one_way: 'not_heard' },
      { type: 'supervisor_joined', who },
      { ...ENDED, duration_ms: 5 },
    ),
    7,
  )
  t.same(change, {
    status: 'in_progress',
    carrier: { call_id: 'c', trunk: 'peer', sip_status: 200 },
    pickedUpAt: 1_000,
    answeredAt: 1_000,
    turns: [
      { role: 'user', text: 'hi', startMs: 0, endMs: 1, interrupted: false, seq: 7 },
      { role: 'assistant', text: 'hello', startMs: 2, endMs: 3, interrupted: true, seq: 8 },
    ],
    usage: { llmInputTokens: 2, llmOutputTokens: 4, sttSeconds: 0.5, ttsCharacters: 0 },
    latenciesMs: [100],
    answeredBy: 'human',
    consent: 'given',
    recording: 'off',
    quality: { mos: 4 },
    supervisors: [{ ...who, joined_at: '1970-01-01T00:00:01.000Z' }],
    end: { status: 'failed', endReason: 'error', disposition: 'failed', error: 'why', durationMs: 5, at: 1_000 },
  })
  t.same(changeOf(logged({ type: 'queued' }, { type: 'thinking' })), {})
  const begun = changeOf(logged({ type: 'recording_started', start_ms: 0 }, { type: 'answered' }))
  t.equal(begun.recording, 'begun', 'in whatever order they come')
})

t.test('a turn that a model understood otherwise is written with its words, in its place', async (t) => {
  const said = (turn: number, text: string) => ({ type: 'transcribed', turn, text, start_ms: 0, end_ms: 1 }) as const
  const { turns } = changeOf(logged(said(3, 'earlier'), TURN, SAID, said(7, 'high'), said(7, 'high five'), SAID), 7)
  t.same(
    turns?.toSorted((a, b) => a.seq - b.seq).map(({ seq, role, text }) => [seq, role, text]),
    [
      [3, 'user', 'earlier'],
      [7, 'user', 'high five'],
      [8, 'assistant', 'hello'],
      [9, 'assistant', 'hello'],
    ],
  )
})

t.test('speech that another recognised than the agent’s recogniser stands apart', async (t) => {
  const served_by = { provider: 'openai', model: 'gpt-transcribe' }
  const change = changeOf(
    logged({ type: 'usage', stage: 'stt', seconds: 2 }, { type: 'usage', stage: 'stt', seconds: 1.5, served_by }),
  )
  t.equal(change.usage?.sttSeconds, 2)
  t.same(change.recognised, [{ ...served_by, seconds: 1.5 }])
})

t.test('each change of the status ends an entry, and turns keep their places', async (t) => {
  const entries = entriesOf('w', 'c', logged({ type: 'ringing' }, { type: 'answered' }, TURN, SAID, ENDED, USED))
  t.match(
    entries.map(({ firstSeq, lastSeq, firstTurn, change }) => [firstSeq, lastSeq, firstTurn, change?.turns?.length]),
    [
      [0, 0, 0, undefined],
      [1, 1, 0, undefined],
      [2, 4, 0, 2],
      [5, 5, 2, undefined],
    ],
  )
})

t.test('a refused entry falls into its events, then into its tables, then an end without its words', async (t) => {
  const parts = partsOf(entryOf('w', 'c', logged(TURN, SAID, USED, ENDED), { firstTurn: 3 }))
  t.same(
    parts.map(({ firstSeq, lastSeq, change }) => [firstSeq, lastSeq, change?.turns?.[0]?.seq]),
    [
      [0, 0, 3],
      [1, 1, 4],
      [2, 2, undefined],
      [3, 3, undefined],
    ],
  )
  const [turn, , , end] = parts
  t.same(partsOf(turn!).map(tableOf), ['call_events', 'call_turns'])
  const [event, row] = partsOf(end!)
  t.same(partsOf(event!), [])
  t.same(partsOf(row!).map(tableOf), ['calls'])
  t.equal(partsOf(row!)[0]?.change?.end?.error, undefined)
  t.same(partsOf(partsOf(row!)[0]!), [])
})
