import { askModel } from '../analysis/ask-model.ts'
import type { Prices } from '../call/cost.ts'
import type { CallEvent } from '../call/log/events.ts'
import { addUsage, NO_USAGE } from '../call/types/add-usage.ts'
import type { AgentSpec, SessionLimits } from '../call/types/agent-spec.ts'
import { HANDED_OFF_OUTPUT } from '../call/types/hand-off.ts'
import { procedureText } from '../call/types/procedure.ts'
import type { Usage } from '../call/types/usage.ts'
import { passagesNote } from '../conversation/replying/knowledge.ts'
import { signalWithin } from '../lib/async/signal-within.ts'
import { type Clock, systemClock } from '../lib/clock.ts'
import { PatchbayError } from '../lib/errors.ts'
import type { PluginRegistry } from '../plugin/host.ts'
import type { Logger } from '../process/log.ts'
import { TRANSFER_OUTPUT } from '../tools/transfer-output.ts'
import { ScriptedCaller, type TestCaller } from './caller.ts'
import { type JudgedFact, judgeFacts } from './facts.ts'
import { type JudgedSentence, judgeSentence } from './judge.ts'
import { type MockAnswer, ToolMocks } from './mocks.ts'
import type { NextAgents } from './next-agents.ts'
import { recordOf, type TestRecord } from './record.ts'
import type { AgentTest } from './schema.ts'
import { SimulatedCaller } from './simulated-caller.ts'
import { SimulatedClock } from './simulated-clock.ts'
import type { RecordedSound } from './sound/recorded-words.ts'
import type { SoundRoom } from './sound/sound-room.ts'
import { TextConversation } from './text-conversation.ts'
import { TextModel, type TextModelDeps } from './text-model.ts'

/** `error`: the run came to no verdict, and says why. Only `pass` is one. */
export type RunVerdict = 'pass' | 'fail' | 'unsure' | 'error'

/** What came of one run of a test. */
export interface TestResult {
  verdict: RunVerdict
  facts: JudgedFact[]
  judged: JudgedSentence[]
  /** Missing where the run broke off. */
  record?: TestRecord
  error?: string
  /** What the judge and a simulated caller used, which the conversation's own figures leave out. */
  spent: { inputTokens: number; outputTokens: number }
  tookMs: number
}

export interface RunTestDeps {
  /** The agent under test, variables filled in. */
  agent: AgentSpec
  limits: SessionLimits
  /** What clocks on the wall show when the conversation begins, in ms since 1970. */
  startsAtMs: number
  plugins: PluginRegistry
  prices: Prices
  /** The agents that its tools hand to, by tool; default: none is known. */
  handoffs?: NextAgents
  knowledge?: TextModelDeps['knowledge']
  realClock?: Clock
  /** Where tests in sound are run, made when the first one is. */
  soundRoom(): Promise<SoundRoom>
  /** What the caller of a call of the workspace said in a turn. */
  recordedSound: RecordedSound
  tell?(event: CallEvent): void
  signal: AbortSignal
  log: Logger
}

const DEFAULT_TIMEOUT_S = 120

/** Runs a test once. Rejects with the signal's reason alone: everything else is a result. */
export async function runTest(test: AgentTest, deps: RunTestDeps): Promise<TestResult> {
  const { realClock = systemClock, signal } = deps
  const startedMs = realClock.monotonicMs()
  const spent = { inputTokens: 0, outputTokens: 0 }
  const timeoutS = test.timeout_s ?? DEFAULT_TIMEOUT_S
  const limit = signalWithin(timeoutS * 1_000, signal)
  const done = (result: Omit<TestResult, 'spent' | 'tookMs'>): TestResult => {
    return { ...result, spent, tookMs: Math.round(realClock.monotonicMs() - startedMs) }
  }
  const failed = (error: string) => done({ verdict: 'error', facts: [], judged: [], error })
  try {
    const record = await converse(test, deps, limit, spent)
    const facts = judgeFacts(test.expect ?? [], record)
    const judged: JudgedSentence[] = []
    for (const sentence of test.judge ?? []) judged.push(await judge(sentence, record, test, deps, limit, spent))
    return done({ verdict: runVerdict(test, facts, judged), facts, judged, record })
  } catch (error) {
    signal.throwIfAborted()
    if (limit.aborted) return failed(`The test did not end within ${timeoutS} s`)
    return failed(error instanceof Error ? error.message : String(error))
  }
}

/** All expectations of the test, each with a verdict, and every one a pass: less is none. */
export function runVerdict(
  test: Pick<AgentTest, 'expect' | 'judge'>,
  facts: readonly JudgedFact[],
  judged: readonly JudgedSentence[],
): RunVerdict {
  const wanted = (test.expect?.length ?? 0) + (test.judge?.length ?? 0)
  const all = [...facts, ...judged].map(({ verdict }) => verdict)
  if (all.includes('fail')) return 'fail'
  if (wanted === 0 || all.length !== wanted) return 'error'
  return all.every((one) => one === 'pass') ? 'pass' : 'unsure'
}

async function converse(
  test: AgentTest,
  deps: RunTestDeps,
  signal: AbortSignal,
  spent: TestResult['spent'],
): Promise<TestRecord> {
  const { agent, plugins, prices, log, startsAtMs, limits, tell, recordedSound, handoffs = new Map() } = deps
  const knowledge = agent.hasKnowledge ? deps.knowledge : undefined
  const caller = callerOf(test, deps, signal, spent)
  const callTool = mockedTools(test, agent, (query) => knowledge?.(query, signal))
  const priced = (record: ReturnType<typeof recordOf>, usage: Usage, at: Date): TestRecord => {
    const { llmUsd, sttUsd, ttsUsd } = prices.costOf(agent, usage, at)
    const known = llmUsd !== null && sttUsd !== null && ttsUsd !== null
    return { ...record, usage, costUsd: known ? llmUsd + sttUsd + ttsUsd : null, unsaid: caller.unsaid() }
  }
  if ((test.caller.channel ?? 'text') !== 'text') {
    const room = await deps.soundRoom()
    const lookUp = async (query: string) => (await knowledge?.(query, signal)) ?? []
    const events = await room.run(test, {
      ...{ agent, limits, caller, callTool, handoffs, lookUp, tell, recordedSound, signal },
    })
    const usage = events.reduce((sum, event) => (event.type === 'usage' ? addUsage(sum, event) : sum), NO_USAGE)
    return priced(recordOf(events), usage, new Date(startsAtMs))
  }
  const clock = new SimulatedClock(startsAtMs)
  const model = await TextModel.open(agent, {
    ...{ plugins, log, signal },
    ...(knowledge === undefined ? {} : { knowledge }),
    ...(deps.realClock === undefined ? {} : { realClock: deps.realClock }),
  })
  try {
    const conversation = new TextConversation({
      ...{ agent, limits, clock, model, caller, callTool, signal, handoffs },
      ...(tell === undefined ? {} : { tell }),
    })
    const record = recordOf(await conversation.run())
    return priced(record, usageOf(record, model), new Date(clock.nowMs()))
  } finally {
    await model.close()
  }
}

type CallTool = (name: string, given: Record<string, unknown>) => Promise<MockAnswer>

/** What stands in for the agent's tools, those of the product's own among them. */
function mockedTools(
  test: AgentTest,
  { tools = [], procedures = [] }: AgentSpec,
  lookUp: (query: string) => ReturnType<NonNullable<RunTestDeps['knowledge']>> | undefined,
): CallTool {
  const mocks = new ToolMocks(test)
  return async (name, given) => {
    const kind = tools.find((tool) => tool.name === name)?.kind
    if (kind === undefined) return { output: `There is no tool "${name}".`, afterMs: 0, error: 'There is no such tool' }
    if (mocks.has(name)) return mocks.call(name, given)
    if (kind === 'transfer') return { output: TRANSFER_OUTPUT, afterMs: 0 }
    if (kind === 'handoff') return { output: HANDED_OFF_OUTPUT, afterMs: 0 }
    if (kind === 'procedure') {
      const procedure = procedures.find((one) => one.name === given.name)
      const output = procedure === undefined ? 'There is no such procedure.' : procedureText(procedure)
      return { output, afterMs: 0 }
    }
    if (kind === 'send_dtmf') return { output: 'The keys were pressed.', afterMs: 0 }
    if (kind !== 'knowledge') return mocks.call(name, given)
    const found = (await lookUp(String(given.query ?? ''))) ?? []
    return { output: found.length === 0 ? 'Nothing was found.' : passagesNote(found), afterMs: 0 }
  }
}

/** What a call of that length would use. */
function usageOf({ turns, durationMs }: Pick<TestRecord, 'turns' | 'durationMs'>, { usage }: TextModel): Usage {
  const said = turns.filter(({ role }) => role === 'assistant')
  return {
    ...usage,
    sttSeconds: durationMs / 1_000,
    ttsCharacters: said.reduce((sum, { text }) => sum + text.length, 0),
  }
}

function callerOf(
  { caller }: AgentTest,
  { agent, plugins, log }: RunTestDeps,
  signal: AbortSignal,
  spent: TestResult['spent'],
): TestCaller {
  if (caller.say !== undefined) return new ScriptedCaller(caller.say)
  const choice = { llm: modelOf(caller.model) ?? agent.llm, workspaceId: agent.workspaceId }
  return new SimulatedCaller(caller, (messages) => askModel(plugins, choice, messages, { signal, log, spent }))
}

function judge(
  sentence: string,
  record: TestRecord,
  { judge_model }: AgentTest,
  { agent, plugins, log }: RunTestDeps,
  signal: AbortSignal,
  spent: TestResult['spent'],
): Promise<JudgedSentence> {
  const llm = modelOf(judge_model) ?? agent.llm
  return judgeSentence(sentence, record, {
    ask: (messages, limit) =>
      askModel(plugins, { llm, workspaceId: agent.workspaceId }, messages, { signal: limit, log, spent }),
    model: `${llm.provider}/${llm.model}`,
    signal,
  })
}

/** `provider/model`; `offline` alone is the model that needs no key. */
function modelOf(name: string | undefined): AgentSpec['llm'] | undefined {
  if (name === undefined) return undefined
  if (name === 'offline') return { provider: 'offline', model: 'extractive' }
  const at = name.indexOf('/')
  if (at < 1) throw new PatchbayError('internal', { cause: new Error(`"${name}" names no model`) })
  return { provider: name.slice(0, at), model: name.slice(at + 1) }
}
