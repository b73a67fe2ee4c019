import t from 'tap'
import type { CallEvent, CallEventBody } from '../../../../runtime/call/log/events.ts'
import { callTrace, type TraceSpan } from '../../../../runtime/traces/call-trace.ts'
import { traceIdOf } from '../../../../runtime/traces/trace-context.ts'

const CALL = { callId: '0197f3a2-7c1e-7000-8000-000000000001', workspaceId: 'w', content: false }
const ANSWERED_MS = 1_000_000

const log = (...events: [at: number, body: CallEventBody][]): CallEvent[] =>
  events.map(([at, body], seq) => ({ ...body, seq, at }) as CallEvent)

const providers = {
  stt: { provider: 'deepgram', model: 'nova-3' },
  llm: { provider: 'openai', model: 'gpt-5' },
  tts: { provider: 'cartesia', model: 'sonic' },
}

/** A turn of the caller of a second, and its answer of two, each ten seconds after the one before. */
function turns(count: number): [number, CallEventBody][] {
  return Array.from({ length: count }, (_, i): [number, CallEventBody][] => {
    const startMs = 10_000 * (i + 1)
    const at = ANSWERED_MS + startMs
    const latency = { stt_ms: 120, endpointing_ms: 180, llm_ms: 300, tts_ms: 100, total_ms: 700 }
    return [
      [at + 1_300, { type: 'turn', text: `turn ${i}`, start_ms: startMs, end_ms: startMs + 1_000 }],
      [at + 1_700, { type: 'latency', ...latency }],
      [
        at + 3_700,
        {
          type: 'heard',
          text: 'Yes.',
          start_ms: startMs + 1_700,
          end_ms: startMs + 3_700,
          interrupted: false,
          final: true,
        },
      ],
      [at + 3_800, { type: 'usage', stage: 'llm', input_tokens: 100, output_tokens: 5 }],
    ]
  }).flat()
}

const ended: CallEventBody = {
  type: 'ended',
  status: 'completed',
  end_reason: 'caller_hangup',
  disposition: 'completed',
}
const childrenOf = (spans: TraceSpan[], parent: TraceSpan) => spans.filter(({ parentId }) => parentId === parent.id)

t.test('what was heard on the line ends the stages, whatever the clock of the worker shows', (t) => {
  const answered = [ANSWERED_MS, { type: 'answered', providers }] as [number, CallEventBody]
  const latency = { stt_ms: 10, endpointing_ms: 0, llm_ms: 20, tts_ms: 10, total_ms: 40 }
  const heardAt = (start_ms: number, ...said: [number, CallEventBody][]): TraceSpan[] =>
    callTrace(
      CALL,
      log(
        answered,
        [ANSWERED_MS + 1_000, { type: 'turn', text: 'typed', start_ms: 1_000, end_ms: 1_000 }],
        ...said,
        [ANSWERED_MS + 1_040, { type: 'latency', ...latency }],
        [
          ANSWERED_MS + 2_000,
          { type: 'heard', text: 'Yes.', start_ms, end_ms: 2_000, interrupted: false, final: true },
        ],
      ),
    )
  const timesOf = (spans: TraceSpan[], name: string) => {
    const { startMs, endMs } = spans.find((span) => span.name === name) ?? { startMs: 0, endMs: 0 }
    return [startMs - ANSWERED_MS, endMs - ANSWERED_MS]
  }
  const late = heardAt(1_070)
  t.same(timesOf(late, 'tts'), [1_030, 1_040])
  t.same(timesOf(late, 'playout'), [1_040, 1_070])
  const early = heardAt(990)
  t.same(timesOf(early, 'tts'), [990, 990])
  t.same(timesOf(early, 'caller speaks'), [990, 990])
  t.same(timesOf(early, 'turn'), [990, 2_000], 'a turn begins no later than its parts')
  t.equal(
    early.some(({ name }) => name === 'playout'),
    false,
  )
  const filler = heardAt(1_005, [ANSWERED_MS + 1_005, { type: 'filler', text: 'Hm' }])
  t.same(timesOf(filler, 'tts'), [1_030, 1_040], 'what filled the time ends no stage')
  t.end()
})

t.test('a call of ten turns is one trace whose spans add up', (t) => {
  const spans = callTrace(
    CALL,
    log(
      [ANSWERED_MS - 4_000, { type: 'queued' }],
      [ANSWERED_MS - 3_000, { type: 'ringing' }],
      [ANSWERED_MS, { type: 'answered', providers }],
      [
        ANSWERED_MS + 900,
        { type: 'heard', text: 'Hello', start_ms: 100, end_ms: 900, interrupted: false, final: true },
      ],
      ...turns(10),
      [ANSWERED_MS + 120_000, ended],
    ),
  )
  const [root] = spans
  t.match(root, {
    name: 'call',
    parentId: undefined,
    startMs: ANSWERED_MS - 4_000,
    endMs: ANSWERED_MS + 120_000,
    attributes: { 'patchbay.call.end_reason': 'caller_hangup' },
  })
  t.equal(new Set(spans.map(({ id }) => id)).size, spans.length)
  t.same(
    childrenOf(spans, root!).map(({ name }) => name),
    ['ring', 'greeting', ...Array.from({ length: 10 }, () => 'turn')],
  )
  for (const turn of spans.filter(({ name }) => name === 'turn')) {
    const parts = childrenOf(spans, turn)
    t.same(
      parts.map(({ name }) => name),
      ['caller speaks', 'stt', 'endpointing', 'chat gpt-5', 'tts', 'agent speaks'],
    )
    parts.reduce((before, part) => {
      t.equal(part.startMs, before.endMs, `${part.name} begins where ${before.name} ends`)
      return part
    })
    t.equal(parts[0]?.startMs, turn.startMs)
    t.equal(parts.at(-1)?.endMs, turn.endMs)
    t.match(parts[3]?.attributes, {
      'gen_ai.provider.name': 'openai',
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 5,
    })
  }
  t.notMatch(JSON.stringify(spans), 'Yes.', 'what was said stays here')
  t.equal(traceIdOf(CALL.callId), '0197f3a27c1e70008000000000000001')
  t.end()
})

t.test('tools, knowledge, transfers, recovery and faults are where they happened', (t) => {
  const at = (ms: number) => ANSWERED_MS + ms
  const events = log(
    [at(0), { type: 'answered' }],
    [at(1_000), { type: 'turn', text: 'Book', start_ms: 0, end_ms: 900 }],
    [at(1_050), { type: 'knowledge_looked_up', query: 'Book', hits: [], ms: 50 }],
    [at(1_100), { type: 'tool_called', id: 'a', name: 'book', arguments: { day: 'Monday' } }],
    [at(1_200), { type: 'fault', stage: 'llm', sentence: 'OpenAI answered 503' }],
    [at(1_600), { type: 'tool_returned', id: 'a', result: '', ms: 500, error: 'No answer' }],
    [at(2_000), { type: 'worker_lost', worker: 'w', reason: 'killed' }],
    [at(2_500), { type: 'resumed', worker: 'v' }],
    [at(3_000), { type: 'transfer_started', to: '+14155550199', mode: 'warm' }],
    [at(4_000), { type: 'transfer_failed', to: '+14155550199', reason: 'Nobody answered' }],
    [at(4_500), { type: 'tool_called', id: 'b', name: 'book', arguments: {} }],
    [at(5_000), { ...ended, status: 'failed', error: 'It broke' }],
  )
  const spans = callTrace({ ...CALL, content: true }, events)
  const named = (name: string) => spans.find((span) => span.name === name)
  const [root, turn] = [named('call'), named('turn')]
  t.match(root, { error: 'It broke' })
  t.match(named('knowledge'), { parentId: turn?.id, startMs: at(1_000), endMs: at(1_050) })
  t.match(named('execute_tool book'), {
    ...{ parentId: turn?.id, startMs: at(1_100), endMs: at(1_600), error: 'No answer' },
    attributes: { 'gen_ai.tool.name': 'book', 'gen_ai.tool.call.arguments': '{"day":"Monday"}' },
  })
  t.match(turn?.notes, [{ name: 'fault', atMs: at(1_200), attributes: { sentence: 'OpenAI answered 503' } }])
  t.match(named('recovery'), { parentId: root?.id, startMs: at(2_000), endMs: at(2_500) })
  t.match(named('transfer'), { startMs: at(3_000), endMs: at(4_000), error: 'Nobody answered' })
  t.equal(spans.at(-1)?.endMs, at(5_000), 'what was under way ended with the call')
  t.match(named('caller speaks')?.attributes, { 'patchbay.text': 'Book' })
  t.end()
})

t.test('every beginning of a log is a trace', (t) => {
  const events = log([ANSWERED_MS, { type: 'answered' }], ...turns(2), [ANSWERED_MS + 60_000, ended])
  for (let length = 0; length <= events.length; length++) {
    const spans = callTrace(CALL, events.slice(0, length))
    t.ok(
      spans.every(({ startMs, endMs }) => endMs >= startMs),
      String(length),
    )
  }
  t.end()
})
