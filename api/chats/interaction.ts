import { AdmissionGate } from '../../runtime/admission/gate.ts'
import type { Prices } from '../../runtime/call/cost.ts'
import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { BEGIN_PROCEDURE } from '../../runtime/call/types/procedure.ts'
import { type AnswerGuard, answerGuard } from '../../runtime/conversation/guarding/answer-guard.ts'
import { SpokenLanguage } from '../../runtime/conversation/hearing/spoken-language.ts'
import { passagesNote } from '../../runtime/conversation/replying/knowledge.ts'
import { fitsVariables } from '../../runtime/conversation/variables.ts'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { MAX_VARIABLES } from '../../runtime/lib/variable-bounds.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Tool } from '../../runtime/tools/tool.ts'
import { addChatSpending, appendExchange, openSession } from '../../store/agents/chats.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import { isDuplicate } from '../../store/database/database.ts'
import type { Agent } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { takeSessionTurn } from '../../store/redis/session-turns.ts'
import { type KnowledgeScope, type Passage, retrieve } from '../knowledge/retrieve.ts'
import { agentSpec } from '../realtime/agent-spec.ts'
import { ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { ChatCollecting, ChatSecrets } from './chat-collecting.ts'
import { ChatHandoffs, presentAgent } from './chat-handoff.ts'
import { ChatProcedures } from './chat-procedures.ts'
import type { ChatModelUsage, streamAnswer } from './model.ts'

interface Interaction {
  agent: ServedAgent
  sessionId: string
  message: string
  dynamicVariables: Readonly<Record<string, string>>
}

export type InteractionEvent =
  | { type: 'delta'; text: string }
  | {
      type: 'done'
      chatId: string
      presentAgentId: string
      response: string
      sources: Passage[]
      usage: ChatModelUsage
      costUsd: number | null
    }

/** Messages of the past that the model reads. */
const HISTORY_MESSAGES = 40
const TOP_K = 4
const TURN_TIMEOUT_MS = 60_000
const ANSWER_TIMEOUT_MS = 120_000
/** Answers at once on this node; one workspace leaves places to others. */
const answering = new AdmissionGate({ kind: 'chat', places: 64, mostOfOne: 32, maxWaiting: 500 })
/** About as many as a token has: the model tells at the end alone, and who leaves before pays for what was read and said. */
const CHARACTERS_PER_TOKEN = 4
const NOTHING_SPENT: ChatModelUsage = { inputTokens: 0, outputTokens: 0 }

/**
 * Answers a message of a session: waits for its turn, looks things up, streams the model's words and, at the end, writes
 * both down. When the caller goes away in the middle, the model is cancelled and the words sent so far are kept.
 */
export async function* interact(
  services: Services,
  tenant: Tenant,
  interaction: Interaction,
  options: { signal: AbortSignal; log: Logger },
): AsyncGenerator<InteractionEvent, void> {
  const { agent, sessionId, message } = interaction
  const { redis, plugins, prices, clock } = services
  const { log } = options
  const askedAt = new Date(clock.nowMs())
  const turn = await takeSessionTurn(redis, [tenant.workspaceId, agent.id, sessionId], {
    timeoutMs: TURN_TIMEOUT_MS,
    signal: options.signal,
    log,
  })
  const leave = await answering.enter({ workspaceId: tenant.workspaceId }, options.signal).catch((error) => {
    turn.release()
    throw error
  })
  const stop = new AbortController()
  const signal = joinSignals(joinSignals(options.signal, turn.lost), stop.signal)
  const deadline = setTimeout(() => {
    stop.abort(new PatchbayError('timeout', { params: { action: 'The answer', timeoutMs: ANSWER_TIMEOUT_MS } }))
  }, ANSWER_TIMEOUT_MS)
  let words: ReturnType<typeof streamAnswer> | undefined
  let response = ''
  let save: ((spent: ChatModelUsage, costUsd: number | null) => Promise<string>) | undefined
  let askedCharacters = 0
  let isDone = false
  /** By the agents that have said all. */
  const spent: Spending = { usage: { ...NOTHING_SPENT }, costUsd: 0, ownKeysUsd: 0 }
  const isOwnKey = ({ llm_provider: provider }: Agent) => plugins.keys.of(tenant.workspaceId)[provider] !== undefined
  /** Counted for the month's quota of what the operator pays, whether or not the exchange can be kept. */
  const pay = (costUsd: number | null): Promise<void> | undefined =>
    costUsd === null || costUsd === 0 ? undefined : addChatSpending(tenant, costUsd, new Date(clock.nowMs()))
  try {
    const session = await openSession(tenant, agent.id, sessionId, HISTORY_MESSAGES)
    let present = await presentAgent(services.store, tenant.workspaceId, agent, session.chat)
    const kept = session.chat?.collected
    let collecting: ChatCollecting | undefined
    let procedures: ChatProcedures | undefined
    /** What of the message may be written down. */
    let question = message
    const dynamicVariables = { ...session.chat?.dynamic_variables, ...interaction.dynamicVariables }
    if (!fitsVariables(dynamicVariables) && Object.keys(interaction.dynamicVariables).length > 0) {
      const msg = `must, with those of the session, have at most ${MAX_VARIABLES} names and 64 KiB in all`
      throw new ValidationError([{ loc: ['body', 'dynamic_variables'], msg, type: 'value_error' }])
    }
    const seq = session.chat?.message_count ?? 0
    save = ({ inputTokens, outputTokens }, costUsd) =>
      appendExchange(tenant, session.chat, {
        agentId: agent.id,
        agentVersion: present.agent.agent_version,
        presentAgentId: present.agent.id === agent.id ? null : present.agent.id,
        state: { ...present.state, ...(procedures === undefined ? {} : { procedures: procedures.stored }) },
        sessionId,
        dynamicVariables,
        collected: collecting?.stored ?? kept ?? {},
        question: { text: question, at: askedAt },
        answer: { text: response, at: new Date(clock.nowMs()), inputTokens, outputTokens, costUsd },
      })
    const handoffs = new ChatHandoffs(services.tools, { workspaceId: tenant.workspaceId, sessionId, dynamicVariables })
    const box = new ChatSecrets(redis, services.config, [tenant.workspaceId, agent.id, sessionId])
    const chatSecrets = async ({ collect = [] }: AgentSpec, { secrets }: ChatCollecting) => {
      if (!collect.some(({ secret }) => secret)) return {}
      return Object.keys(secrets).length === 0 ? box.read() : box.add(secrets)
    }
    let sources: Passage[] = []
    for (;;) {
      const { agent: speaker, state } = present
      const scope = { workspaceId: tenant.workspaceId, agentId: speaker.id, agentVersion: speaker.agent_version }
      // What is typed as a value is no question, and may be secret.
      const isValue = collecting === undefined ? kept?.pending !== undefined : collecting.isPending
      sources = isValue
        ? []
        : await retrieve(services, scope, question, TOP_K, signal).catch((err) => {
            if (signal.aborted) throw err
            // An answer from the prompt alone beats none.
            log.warn({ err, agentId: speaker.id }, 'Retrieval failed; answering without passages')
            return []
          })
      const own = agentSpec(speaker, dynamicVariables, sources.length > 0, { nowMs: clock.nowMs() })
      const collects: ChatCollecting = new ChatCollecting(own, collecting?.stored ?? kept, clock.nowMs())
      collecting = collects
      question = collects.shown(question)
      const asked = collects.isPending ? collects.answer(message) : undefined
      const steps: ChatProcedures = new ChatProcedures(own.procedures, state.procedures)
      procedures = steps
      const ofModel = steps.isRunning ? [] : collects.outputs
      if (asked === undefined) steps.answered(collects.outputs)
      const secrets = await chatSecrets(own, collects)
      const variables = { ...dynamicVariables, ...collects.values }
      const { spec, faults } = await services.mcpTools.complete(speaker, own)
      if (faults.length > 0) log.warn({ agentId: speaker.id, faults }, 'A chat continues without some of its tools')
      const messages = session.messages.filter((one) => one.seq >= (state.handoff?.fromSeq ?? 0))
      const notes = () => [...(state.handoff === undefined ? [] : [state.handoff.note]), ...steps.notes]
      const read = [
        spec.systemPrompt,
        question,
        ...notes(),
        ...messages.map(({ content }) => content),
        ...sources.map(({ text }) => text),
      ]
      askedCharacters = read.reduce((sum, text) => sum + text.length, 0)
      const before = response.length
      const model = await import('./model.ts')
      const chat = { agent: speaker, scope, dynamicVariables: variables, secrets, log }
      const call = async (name: string, input: Record<string, unknown>, aborted: AbortSignal): Promise<string> =>
        (await handoffs.call(speaker, name, input, aborted)) ?? callTool(services, chat, name, input, aborted)
      const fixed = {
        callTool: (name: string, input: Record<string, unknown>) => call(name, input, signal),
        collect: (name: string) => collects.begin([{ id: `${name}-${seq}`, name }], true),
        isOver: () => handoffs.isMade,
      }
      const ask = (said: string) =>
        model.streamAnswer(
          plugins,
          {
            ...{ agent: spec, messages, passages: sources, question, collected: ofModel },
            notes: [...notes(), ...saidNote(said)],
            collect: (wanted) => collects.begin(wanted),
            guard: guardOf(spec, question, log),
            isOver: () => handoffs.isMade || steps.isRunning,
            isHidden: (tool) => steps.isHidden(tool),
            callTool: async (name, input, aborted) =>
              name === BEGIN_PROCEDURE ? steps.begin(input.name) : call(name, input, aborted),
          },
          { signal, log },
        )
      words = asked === undefined ? answerOf(steps, fixed, ask) : sayOnly(asked)
      let step = await words.next()
      for (; !step.done; step = await words.next()) {
        response += step.value
        yield { type: 'delta', text: step.value }
      }
      words = undefined
      const cost = costOf(prices, speaker, step.value, new Date(clock.nowMs()))
      spend(spent, step.value, cost, isOwnKey(speaker))
      if (handoffs.isMade) {
        const says = response.length > before ? '\n\n' : handoffs.says === '' ? '' : `${handoffs.says}\n\n`
        response += says
        if (says !== '') yield { type: 'delta', text: says }
      }
      const next = handoffs.take(present, seq)
      if (next === undefined) break
      present = next
      procedures = undefined
    }
    const { usage, costUsd, ownKeysUsd } = spent
    const keep = save
    save = undefined
    isDone = true
    await pay(costUsd && costUsd - ownKeysUsd)
    const chatId = await keep(usage, costUsd).catch(asOvertaken)
    yield { type: 'done', chatId, presentAgentId: present.agent.id, response, sources, usage, costUsd }
  } finally {
    clearTimeout(deadline)
    stop.abort()
    await words?.return(NOTHING_SPENT)
    if (!isDone) {
      const guess = { inputTokens: tokensOf(askedCharacters), outputTokens: tokensOf(response.length) }
      const isFree = words === undefined || isOwnKey(agent)
      const last = isFree ? 0 : costOf(prices, agent, guess, new Date(clock.nowMs()))
      await pay(Math.max(0, (spent.costUsd ?? 0) - spent.ownKeysUsd) + (last ?? 0))?.catch((err) => {
        log.warn({ err }, 'Could not count the cost of an unfinished answer')
      })
    }
    // Left in the middle: the client went away, or the model failed after its first words, which were read.
    if (save !== undefined && response !== '' && !turn.lost.aborted) {
      // What it cost is not known: the model tells at the end.
      await save(NOTHING_SPENT, null).catch((err) => {
        log.warn({ err }, 'Could not keep an unfinished answer')
      })
    }
    turn.release()
    leave()
  }
}

/** What came of a tool of the agent, as its model reads it. */
async function callTool(
  services: Services,
  chat: {
    agent: Agent
    scope: KnowledgeScope
    dynamicVariables: Readonly<Record<string, string>>
    secrets: Readonly<Record<string, string>>
    log: Logger
  },
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<string> {
  const tools = chat.agent.tools as unknown as readonly Tool[]
  if (!tools.some((tool) => tool.type === 'knowledge' && tool.name === name)) {
    const { dynamicVariables, secrets } = chat
    const scope = { workspaceId: chat.scope.workspaceId, dynamicVariables, secrets }
    return (await services.tools.ofChat(tools, name, input, scope, signal)) ?? `There is no tool "${name}".`
  }
  const passages = await retrieve(services, chat.scope, String(input.query ?? ''), TOP_K, signal)
  return passages.length === 0 ? 'Nothing was found.' : passagesNote(passages)
}

/** Fixed steps where some are to be made, and the model's words; what the model used. */
async function* answerOf(
  procedures: ChatProcedures,
  steps: Parameters<ChatProcedures['steps']>[0],
  ask: (said: string) => ReturnType<typeof streamAnswer>,
): ReturnType<typeof streamAnswer> {
  const used = { ...NOTHING_SPENT }
  let said = ''
  for (;;) {
    for await (const text of procedures.steps(steps)) {
      const piece = said === '' ? text : `\n\n${text}`
      said += piece
      yield piece
    }
    if (procedures.isRunning || steps.isOver()) return used
    const words = ask(said)
    try {
      let step = await words.next()
      if (said !== '' && !step.done) yield '\n\n'
      for (; !step.done; step = await words.next()) {
        said += step.value
        yield step.value
      }
      addUsage(used, step.value)
    } finally {
      await words.return(NOTHING_SPENT)
    }
    if (!procedures.isRunning) return used
  }
}

/** What the person reads already of the answer that the model goes on with. */
const saidNote = (said: string): string[] =>
  said === ''
    ? []
    : [`Your answer to the next message begins with this, which is said: ${JSON.stringify(said)}. Go on behind it.`]

/** What the answers to one message cost so far. */
interface Spending {
  usage: ChatModelUsage
  /** Null: a price is not known. */
  costUsd: number | null
  /** What of it is billed to the workspace's own accounts. */
  ownKeysUsd: number
}

function addUsage(
  to: ChatModelUsage,
  { inputTokens, outputTokens, cachedReadTokens, cacheWriteTokens }: ChatModelUsage,
): void {
  to.inputTokens += inputTokens
  to.outputTokens += outputTokens
  if (cachedReadTokens !== undefined) to.cachedReadTokens = (to.cachedReadTokens ?? 0) + cachedReadTokens
  if (cacheWriteTokens !== undefined) to.cacheWriteTokens = (to.cacheWriteTokens ?? 0) + cacheWriteTokens
}

function spend(spent: Spending, used: ChatModelUsage, costUsd: number | null, isOwnKey: boolean): void {
  if (isOwnKey) spent.ownKeysUsd += costUsd ?? 0
  addUsage(spent.usage, used)
  spent.costUsd = spent.costUsd === null || costUsd === null ? null : spent.costUsd + costUsd
}

/** A question for a value: no model is asked. */
async function* sayOnly(text: string): AsyncGenerator<string, ChatModelUsage> {
  yield text
  return NOTHING_SPENT
}

function guardOf(spec: AgentSpec, question: string, log: Logger): AnswerGuard | undefined {
  const spoken = new SpokenLanguage(spec.language, spec)
  spoken.heard(question, undefined)
  return answerGuard(
    spec,
    () => spoken,
    ({ rule, found, action }) =>
      log.info({ agentId: spec.agentId, rule, found, action }, 'An answer of a chat was guarded'),
  )
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

/** The lease ran out unnoticed and another message of the session was answered meanwhile. */
function asOvertaken(cause: unknown): never {
  throw isDuplicate(cause) ? new PatchbayError('unavailable', { cause }) : cause
}

function costOf(prices: Prices, agent: Agent, used: ChatModelUsage, at: Date): number | null {
  const usage = {
    llmInputTokens: used.inputTokens,
    llmOutputTokens: used.outputTokens,
    ...(used.cachedReadTokens === undefined ? {} : { llmCachedReadTokens: used.cachedReadTokens }),
    ...(used.cacheWriteTokens === undefined ? {} : { llmCacheWriteTokens: used.cacheWriteTokens }),
    sttSeconds: 0,
    ttsCharacters: 0,
  }
  return prices.costOf({ llm: { provider: agent.llm_provider, model: agent.llm_model } }, usage, at).llmUsd
}
