import { setTimeout as sleep } from 'node:timers/promises'
import { llm } from '@livekit/agents'
import type { Test } from 'tap'
import { CircuitBreaker } from '../../../../runtime/conversation/providers/breaker.ts'
import { Chain } from '../../../../runtime/conversation/providers/chain.ts'
import { ResilientLlm } from '../../../../runtime/conversation/replying/resilient-llm.ts'
import type { Spent } from '../../../../runtime/conversation/replying/spending.ts'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import type { PluginRegistry } from '../../../../runtime/plugin/host.ts'
import type { LlmEvent, Message } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import { registryWith } from '../../../support/providers/doubles/registry.ts'
import { errorsOf, inTime, ONE_ATTEMPT, withInstance } from '../../support.ts'
import { type Answer, DIALECTS, type DialectName } from './dialects.ts'
import type { AnswerQuirk, Got } from './quirk.ts'
import { scriptedServer } from './scripted-server.ts'

const QUESTION: Message[] = [
  { role: 'system', content: 'You are brief.' },
  { role: 'user', content: 'Can you book a room for two?' },
]
const LIMIT_MS = 30_000

const book = llm.tool({
  name: 'book',
  description: 'Books a room',
  parameters: { type: 'object', properties: { guests: { type: 'number' } } },
  execute: async () => 'booked',
})

/** Runs a quirk at one provider of ours. */
export async function runAtProvider(t: Test, quirk: AnswerQuirk, name: DialectName): Promise<void> {
  const dialect = DIALECTS[name]
  const replies = quirk.answers.map((answer) =>
    typeof answer === 'function' ? answer(dialect) : dialect.answer(answer),
  )
  const { url, bodies } = await scriptedServer(t, replies)
  const registry = await registryWith(t, dialect.env(url), quirk.options ? { [name]: quirk.options } : {})
  const got = await ask(quirk, registry, name, quirk.model ?? dialect.model)
  quirk.check(t, { ...got, bodies })
}

/** Runs a quirk at a plugin in a process of its own: the probe yields what the first instruction says. */
export async function runInDeno(t: Test, quirk: AnswerQuirk, registry: PluginRegistry): Promise<void> {
  const script = quirk.answers.map((answer) => {
    if (typeof answer === 'function') throw new Error(`"${quirk.title}" is of one server and can't run in Deno`)
    return eventsOf(answer)
  })
  const messages: Message[] = [
    { role: 'system', content: JSON.stringify({ t: quirk.title, script }) },
    ...(quirk.messages ?? QUESTION),
  ]
  const got = await ask({ ...quirk, messages }, registry, 'probe', 'm')
  quirk.check(t, { ...got, bodies: [] })
}

/** The module of that probe. */
export const PROBE = `import { definePlugin, ProviderError } from '@patchbay/plugin'
const asked = new Map()
export default definePlugin({
  llm: () => ({
    async *chat({ messages }) {
      const { t, script } = JSON.parse(messages[0].content)
      const at = asked.get(t) ?? 0
      asked.set(t, at + 1)
      for (const event of script[Math.min(at, script.length - 1)]) {
        if (event.type === 'error') throw new ProviderError(event.message, { fault: 'transient' })
        yield event
      }
    },
  }),
})
`

function eventsOf({ parts = [], stop, usage, error }: Answer): (LlmEvent | { type: 'error'; message: string })[] {
  const events: (LlmEvent | { type: 'error'; message: string })[] = parts.map((part) => {
    if ('text' in part) return { type: 'text', text: part.text }
    if ('thought' in part) return { type: 'thinking' }
    return { type: 'tool_call', id: part.call.id, name: part.call.name, arguments: part.call.args }
  })
  if (usage !== undefined) {
    const { input, output, cached, written, reasoning } = usage
    events.push({
      type: 'usage',
      inputTokens: input,
      outputTokens: output,
      ...(cached === undefined ? {} : { cachedInputTokens: cached }),
      ...(written === undefined ? {} : { cacheWriteTokens: written }),
      ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    })
  }
  if (stop !== undefined && stop !== 'none') events.push({ type: 'stop', reason: stop })
  if (error !== undefined) events.push({ type: 'error', message: error.message })
  return events
}

async function ask(
  quirk: AnswerQuirk,
  registry: PluginRegistry,
  provider: string,
  model: string,
): Promise<Omit<Got, 'bodies'>> {
  const { messages = QUESTION, temperature, isResilient = true } = quirk
  const got: Omit<Got, 'bodies'> = { text: '', calls: [], errors: [], faults: [], spent: [] }
  const make = () => registry.create('llm', provider, { model, ...(temperature === undefined ? {} : { temperature }) })
  await withInstance(make, async (instance) => {
    const asked = isResilient ? resilient(instance, provider, got.faults, got.spent) : instance
    const told = errorsOf(asked)
    const chatCtx = contextOf(messages)
    await read(asked, chatCtx, quirk, got)
    if (quirk.asksAgain) {
      chatCtx.addMessage({ role: 'user', content: 'And breakfast?', createdAt: Date.now() + 1_000 })
      await read(asked, chatCtx, quirk, got)
    }
    got.errors = told.map(({ error }) => error.message)
  })
  return got
}

async function read(
  model: llm.LLM,
  chatCtx: llm.ChatContext,
  quirk: AnswerQuirk,
  got: Omit<Got, 'bodies'>,
): Promise<void> {
  const stream = model.chat({
    chatCtx,
    ...(quirk.hasTools ? { toolCtx: [book] } : {}),
    connOptions: { ...ONE_ATTEMPT, timeoutMs: 5_000 },
  })
  let pieces = 0
  const reading = async () => {
    for await (const { delta } of stream) {
      got.text += delta?.content ?? ''
      for (const { callId: id, name, args } of delta?.toolCalls ?? []) got.calls.push({ id, name, args })
      if (++pieces === quirk.closesAfter) return stream.close()
    }
  }
  await inTime(reading(), LIMIT_MS, 'the answer')
  // What an answer cost that was broken off is told a moment later.
  if (quirk.closesAfter !== undefined) await sleep(100)
}

function resilient(instance: llm.LLM, provider: string, faults: string[], spent: Spent[]): ResilientLlm {
  const candidate = { instance, provider, identity: { title: provider }, breaker: new CircuitBreaker() }
  const chain = new Chain('llm', [candidate], systemClock, { failed: (_stage, message) => void faults.push(message) })
  return new ResilientLlm(chain, () => 0, { spent: (one) => void spent.push(one) })
}

function contextOf(messages: readonly Message[]): llm.ChatContext {
  const context = llm.ChatContext.empty()
  const from = Date.now() - messages.length
  messages.forEach((message, i) => {
    const createdAt = from + i
    if (message.role === 'tool_call') {
      const { id: callId, name, arguments: args } = message
      context.insert(llm.FunctionCall.create({ callId, name, args, createdAt }))
    } else if (message.role === 'tool_result') {
      const { id: callId, name, content: output } = message
      context.insert(llm.FunctionCallOutput.create({ callId, name, output, isError: false, createdAt }))
    } else context.addMessage({ role: message.role, content: message.content, createdAt })
  })
  return context
}
