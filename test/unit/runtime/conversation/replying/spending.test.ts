import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { initializeLogger, llm } from '@livekit/agents'
import t from 'tap'
import { CircuitBreaker } from '../../../../../runtime/conversation/providers/breaker.ts'
import { type Candidate, Chain } from '../../../../../runtime/conversation/providers/chain.ts'
import { ResilientLlm } from '../../../../../runtime/conversation/replying/resilient-llm.ts'
import { UsageMeter } from '../../../../../runtime/conversation/usage.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { registryWith } from '../../../../support/providers/doubles/registry.ts'

initializeLogger({ pretty: false, level: 'silent' })

const PROMPT = `You are the receptionist of the Hotel Aurora in Lisbon. ${'Be brief, friendly and exact; never promise what you cannot keep. Rooms cost 80 euros (single), 120 euros (double) and 210 euros (suite), breakfast included. '.repeat(6)}`
const ANSWERS = [
  'Of course. We have a double room for 120 euros a night, breakfast included; shall I book it for you?',
  'Check-in is from three in the afternoon, but you may leave your luggage with us at any hour of the day.',
  'Yes.',
  'I am sorry, that evening our restaurant is closed; the place across the street, Casa do Rio, is very good, though.',
]
const QUESTIONS = [
  'Do you have a double room for Friday?',
  'When can I come?',
  'Is it quiet?',
  'And could we have dinner there on Sunday, the 29th?',
]

/** A count of its own: pieces of words, of numbers, and marks, as vendors' encoders make them. */
const tokensOf = (text: string): number => text.match(/\p{L}{1,7}|\p{N}{1,3}|[^\s\p{L}\p{N}]/gu)?.length ?? 0

interface ChatBody {
  messages: { role: string; content?: string | null; tool_calls?: unknown[] }[]
  tools?: unknown[]
}

/** A server of language models that counts what it is asked and what it gives, cut-off answers too. */
async function countingServer() {
  const counted = { input: 0, output: 0, requests: 0, refuses: false }
  const answer = async (body: ChatBody, response: ServerResponse): Promise<void> => {
    const asked = body.messages.reduce(
      (sum, { content, tool_calls }) => sum + 4 + tokensOf(content ?? '') + tokensOf(JSON.stringify(tool_calls ?? '')),
      3 + tokensOf(JSON.stringify(body.tools ?? '')),
    )
    counted.input += asked
    counted.requests++
    let given = 0
    const send = (delta: object, finish: string | null = null) =>
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const last = body.messages.at(-1)
    if (last?.content?.startsWith('Book') === true) {
      const args = '{"guests": 2, "night": "Friday"}'
      given = tokensOf(`book ${args}`)
      send({
        tool_calls: [
          { index: 0, id: `call_${counted.requests}`, type: 'function', function: { name: 'book', arguments: args } },
        ],
      })
    } else {
      for (const word of (ANSWERS[counted.requests % ANSWERS.length] ?? '').match(/\S+\s*/g) ?? []) {
        if (response.destroyed) break
        given += tokensOf(word)
        send({ content: word })
        await sleep(2)
      }
    }
    counted.output += given
    if (response.destroyed) return
    send({}, last?.content?.startsWith('Book') === true ? 'tool_calls' : 'stop')
    const usage = { prompt_tokens: asked, completion_tokens: given, total_tokens: asked + given }
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    if (!counted.refuses) return answer(JSON.parse(text), response)
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"error":{"message":"down"}}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const registry = await registryWith(t, { OPENAI_BASE_URL: url, OPENAI_API_KEY: 'k' })
  const instance = await registry.create('llm', 'openai', { model: 'some-model' })
  return { counted, instance }
}

const book = llm.tool({
  name: 'book',
  description: 'Books a room',
  parameters: { type: 'object', properties: { guests: { type: 'number' }, night: { type: 'string' } } },
  execute: async () => 'booked',
})

t.test(
  'over 200 turns with cut-off, eager, failed and repeated answers, tokens agree with the servers within 2 %',
  async (t) => {
    const servers = [await countingServer(), await countingServer()] as const
    const meter = new UsageMeter()
    const candidates = (): Candidate<llm.LLM>[] =>
      servers.map(({ instance }, i) => ({
        instance,
        provider: `server ${i}`,
        identity: { title: 'Server' },
        breaker: new CircuitBreaker(),
      }))
    const worker = () =>
      new ResilientLlm(new Chain('llm', candidates(), systemClock, { failed: () => {} }), () => 0, {
        spent: (spent) => meter.spent(spent),
      })
    let model = worker()
    let context = llm.ChatContext.empty()
    context.addMessage({ role: 'system', content: PROMPT, createdAt: 0 })
    const tally: Record<string, number> = {}
    for (let turn = 1; turn <= 200; turn++) {
      servers[0].counted.refuses = turn % 13 === 0
      const kind =
        turn % 50 === 49
          ? 'killed'
          : turn % 5 === 1
            ? 'barge-in'
            : turn % 7 === 2
              ? 'eager'
              : turn % 6 === 4
                ? 'tool'
                : 'plain'
      tally[kind] = (tally[kind] ?? 0) + 1
      const question = kind === 'tool' ? 'Book it for Friday, please.' : (QUESTIONS[turn % QUESTIONS.length] ?? '')
      context.addMessage({ role: 'user', content: question, createdAt: turn * 10 })
      const ask = async (closesAfter: number): Promise<string> => {
        const stream = model.chat({ chatCtx: context, toolCtx: [book] })
        let said = ''
        let pieces = 0
        for await (const { delta } of stream) {
          said += delta?.content ?? ''
          for (const call of delta?.toolCalls ?? []) {
            const { callId, name, args } = call
            context.insert(llm.FunctionCall.create({ callId, name, args, createdAt: turn * 10 + 1 }))
            const output = '{"status": "booked", "room": 12}'
            context.insert(
              llm.FunctionCallOutput.create({ callId, name, output, isError: false, createdAt: turn * 10 + 2 }),
            )
          }
          if (++pieces === closesAfter) stream.close()
        }
        return said
      }
      if (kind === 'eager' || kind === 'killed') await ask(1)
      if (kind === 'killed') model = worker()
      if (kind === 'tool') await ask(Number.POSITIVE_INFINITY)
      const said = await ask(kind === 'barge-in' ? 4 : Number.POSITIVE_INFINITY)
      if (said !== '') context.addMessage({ role: 'assistant', content: said, createdAt: turn * 10 + 5 })
      // As long as a call's context becomes before it is cut.
      if (context.items.length > 40)
        context = new llm.ChatContext([
          context.items[0]!,
          ...context.items.slice(-20).filter(({ type }) => type === 'message'),
        ])
    }
    // Servers see a moment later that nobody listens.
    await sleep(200)
    const used = meter.take(0)
    const input = servers[0].counted.input + servers[1].counted.input
    const output = servers[0].counted.output + servers[1].counted.output
    const off = (ours: number, theirs: number): number => Math.abs(ours - theirs) / theirs
    t.comment(JSON.stringify({ tally, input, output, used }))
    t.ok(off(used?.llmInputTokens ?? 0, input) < 0.02, `${used?.llmInputTokens} of ${input} tokens in`)
    t.ok(off((used?.llmInputTokens ?? 0) + (used?.llmOutputTokens ?? 0), input + output) < 0.02, 'of all')
    t.ok(off(used?.llmOutputTokens ?? 0, output) < 0.02, `${used?.llmOutputTokens} of ${output} tokens out`)
    t.ok((used?.llmEstimatedTokens ?? 0) > 0, 'guesses are marked')
  },
)
