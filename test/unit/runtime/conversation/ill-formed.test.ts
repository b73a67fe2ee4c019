import { llm } from '@livekit/agents'
import { test } from 'tap'
import type { ToolSpec } from '../../../../runtime/call/types/agent-spec.ts'
import { ILL_FORMED } from '../../../support/world/ill-formed.ts'
import { call, RATE_HZ } from './support/harness.ts'
import { ScriptedLlm, ScriptedStt, ToneTts } from './support/providers.ts'
import { speech } from './support/speech.ts'

const QUESTION = 'What are your opening hours?'
const THUMB = '\ud83d\udc4d'
const TOOL: ToolSpec = {
  name: 'book',
  description: 'Books.',
  parameters: { type: 'object', properties: {} },
  kind: 'http',
}

/** Gives its answer in these pieces; one that is a call of a tool once. */
class PiecedLlm extends llm.LLM {
  readonly contexts: llm.ChatContext[] = []
  readonly pieces: readonly (string | llm.FunctionCall)[]

  constructor(pieces: readonly (string | llm.FunctionCall)[]) {
    super()
    this.pieces = pieces
  }

  override label(): string {
    return 'test.Pieced'
  }

  override chat(options: Parameters<llm.LLM['chat']>[0]): llm.LLMStream {
    this.contexts.push(options.chatCtx.copy())
    const isAnswered = options.chatCtx.items.some(({ type }) => type === 'function_call_output')
    return new PiecedAnswer(this, isAnswered ? ['Done.'] : this.pieces, options)
  }
}

class PiecedAnswer extends llm.LLMStream {
  readonly #pieces: readonly (string | llm.FunctionCall)[]

  constructor(owner: PiecedLlm, pieces: PiecedLlm['pieces'], options: Parameters<llm.LLM['chat']>[0]) {
    super(owner, { chatCtx: options.chatCtx, connOptions: { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 1_000 } })
    this.#pieces = pieces
  }

  protected override async run(): Promise<void> {
    for (const piece of this.#pieces) {
      const delta = typeof piece === 'string' ? { content: piece } : { toolCalls: [piece] }
      this.queue.put({ id: 'answer', delta: { role: 'assistant', ...delta } })
    }
  }
}

for (const [kind, { text, clean }] of Object.entries(ILL_FORMED)) {
  test(`words of a recogniser enter clean: ${kind}`, async (t) => {
    const model = new ScriptedLlm(() => 'At nine.')
    const stt = new ScriptedStt({ utterances: [QUESTION], writes: () => text })
    const { port, say, hangUp } = await call({ providers: { stt, llm: model, tts: new ToneTts() } })
    t.teardown(hangUp)
    await say(speech(QUESTION, RATE_HZ))
    await port.until('the answer', () => port.turns.length === 2)
    t.equal(port.turns[0]?.turn.text, clean)
    t.equal(model.asked.at(-1), clean)
    t.ok(JSON.stringify(port.events).isWellFormed() && !/\\u(d[89a-f]|0000)/.test(JSON.stringify(port.events)))
  })

  test(`what a model says, and what it calls tools with, enters clean: ${kind}`, async (t) => {
    const args = JSON.stringify({ [`k ${text}`]: text })
    const called = llm.FunctionCall.create({ callId: 'c', name: 'book', args })
    const model = new PiecedLlm([called])
    const { port, type, hangUp } = await call({
      providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: new ToneTts() },
      agent: { tools: [TOOL] },
    })
    t.teardown(hangUp)
    port.runTool = () => JSON.stringify({ said: text })
    type('Book it.')
    await port.until('the answer', () => port.said.includes('assistant: Done.'))
    t.match(port.tools, [{ name: 'book', arguments: { [`k ${clean}`]: clean } }])
    const read = JSON.stringify(model.contexts.at(-1)?.items)
    t.notMatch(read, /\\u(d[89a-f]|0000)/, 'the model reads no half of a pair')
    t.match(read, clean)
  })

  test(`a model's words are spoken and kept clean: ${kind}`, async (t) => {
    const model = new PiecedLlm([text, ' and more.'])
    const { port, type, hangUp } = await call({
      providers: { stt: new ScriptedStt({ utterances: [] }), llm: model, tts: new ToneTts() },
    })
    t.teardown(hangUp)
    type('Speak.')
    await port.until('the answer', () => port.turns.length === 2)
    t.notMatch(JSON.stringify([port.events, port.said]), /\\u(d[89a-f]|0000)/)
  })
}

test('a pair that a model sends in two pieces stays one', async (t) => {
  const model = new PiecedLlm(['Fine ', THUMB[0]!, `${THUMB[1]!} then.`])
  const { port, type, hangUp } = await call({
    providers: { stt: new ScriptedStt({ utterances: [QUESTION] }), llm: model, tts: new ToneTts() },
  })
  t.teardown(hangUp)
  type('Speak.')
  await port.until('the answer', () => port.turns.length === 2)
  t.notMatch(port.turns[1]?.turn.text ?? '', '\ufffd')
})
