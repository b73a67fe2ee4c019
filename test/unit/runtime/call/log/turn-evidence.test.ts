import t from 'tap'
import type { CallEvent, CallEventBody } from '../../../../../runtime/call/log/events.ts'
import { turnEvidence } from '../../../../../runtime/call/log/turn-evidence.ts'

const T0 = 1_700_000_000_000

function log(...events: readonly (readonly [number, CallEventBody])[]): CallEvent[] {
  return events.map(([atMs, body], seq) => ({ ...body, seq, at: T0 + atMs }))
}

const agent = { provider: 'openai', model: 'gpt' }
const providers = { stt: { provider: 'deepgram', model: 'nova-3' }, llm: agent, tts: { provider: 'sim', model: 'v' } }
const said = (text: string): CallEventBody => ({ type: 'turn', text, start_ms: 0, end_ms: 1 })
const heard = (text: string, final = true): CallEventBody => ({
  type: 'heard',
  text,
  start_ms: 2,
  end_ms: 3,
  interrupted: false,
  final,
})
const latency: CallEventBody = {
  type: 'latency',
  endpointing_ms: 200,
  stt_ms: 0,
  llm_ms: 100,
  tts_ms: 21,
  total_ms: 321,
}

t.test('what happens between two turns of the caller belongs to the answer between them', async (t) => {
  const turns = turnEvidence(
    log(
      [-500, { type: 'queued' }],
      [0, { type: 'answered', providers }],
      [900, heard('Hello.')],
      [2_000, said('When do you open?')],
      [2_100, { type: 'tool_called', id: 'a', name: 'hours', arguments: { day: 'Monday' } }],
      [2_400, { type: 'tool_returned', id: 'a', result: 'nine', ms: 300 }],
      [2_500, { type: 'knowledge_looked_up', query: 'hours', hits: [], ms: 20 }],
      [2_600, latency],
      [2_700, heard('We', false)],
      [3_000, heard('We open at nine.')],
      [3_100, { type: 'usage', stage: 'llm', input_tokens: 210, output_tokens: 18 }],
      [3_200, { type: 'usage', stage: 'tts', characters: 16 }],
      [4_000, said('Thanks.')],
      [4_100, { type: 'provider_switched', stage: 'llm', from: 'openai', to: 'offline' }],
      [4_200, { type: 'fault', stage: 'llm', sentence: 'OpenAI is down' }],
      [5_000, heard('Goodbye.')],
    ),
  )
  t.equal(turns.length, 5)
  t.match(turns[0], { latency: undefined, providers })
  t.same(turns[1]?.tools, [], 'the caller has none of it')
  t.match(turns[2], {
    latency: { total_ms: 321, llm_ms: 100 },
    tools: [{ id: 'a', name: 'hours', startMs: 2_100, ms: 300, result: 'nine' }],
    knowledge: [{ query: 'hours', startMs: 2_480, ms: 20 }],
    usage: { llmInputTokens: 210, llmOutputTokens: 18, ttsCharacters: 16 },
    providers: { llm: agent },
  })
  t.match(turns[4], { providers: { llm: { provider: 'offline' }, stt: providers.stt }, faults: ['OpenAI is down'] })
  t.same(turns[4]?.usage, { llmInputTokens: 0, llmOutputTokens: 0, sttSeconds: 0, ttsCharacters: 0 })
})

t.test(
  'what is looked up while the caller speaks belongs to the answer that comes, the last of it alone',
  async (t) => {
    const lookup = (query: string): CallEventBody => ({ type: 'knowledge_looked_up', query, hits: [], ms: 5 })
    const turns = turnEvidence(
      log(
        [0, { type: 'answered', providers }],
        [400, lookup('Wh')],
        [900, heard('Hello.')],
        [1_500, lookup('What')],
        [1_800, lookup('What are your hours')],
        [2_000, said('What are your hours?')],
        [2_600, latency],
        [2_700, lookup('And')],
        [3_000, heard('Nine to five.')],
        [4_000, said('And on Sunday?')],
        [4_100, lookup('And on Sunday?')],
        [5_000, heard('Closed.')],
        [6_000, lookup('Tha')],
      ),
    )
    t.same(
      turns.map(({ knowledge }) => knowledge.map(({ query }) => query)),
      [[], [], ['What are your hours'], [], ['And', 'And on Sunday?']],
    )
  },
)

t.test(
  'an agent that says two things in a row has two turns, and what was not answered stays with the caller',
  async (t) => {
    const turns = turnEvidence(
      log(
        [0, { type: 'answered' }],
        [1, heard('One moment.')],
        [2, heard('There it is.')],
        [3, said('Well?')],
        [4, { type: 'tool_called', id: 'b', name: 'look', arguments: {} }],
      ),
    )
    t.equal(turns.length, 3)
    t.match(turns[2], { tools: [{ id: 'b', startMs: 4 }] })
    t.equal(turns[2]?.tools[0]?.ms, undefined)
    t.same(turnEvidence([]), [])
  },
)
