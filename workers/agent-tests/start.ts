import { readClock } from '../../runtime/agent-tests/parse.ts'
import type { RunTestDeps, TestResult } from '../../runtime/agent-tests/run-test.ts'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import type { SoundRoom } from '../../runtime/agent-tests/sound/sound-room.ts'
import type { Prices } from '../../runtime/call/cost.ts'
import type { AgentSpec, SessionLimits, ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import type { Embeddings } from '../../runtime/knowledge/embeddings.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { instantOf } from '../../runtime/lib/zoned-time.ts'
import type { ObjectStore, VectorScope, VectorStore } from '../../runtime/plugin/contract.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import type { Logger } from '../../runtime/process/log.ts'
import type { Tool } from '../../runtime/tools/tool.ts'
import {
  claimTestCases,
  type DueCase,
  releaseTestCase,
  settleTestCase,
  testCaseWithRun,
} from '../../store/agent-tests/due-cases.ts'
import { agentById } from '../../store/agents/agents.ts'
import { type AgentUse, type ServedAgent, servedAgent } from '../../store/agents/served-agents.ts'
import type { Store } from '../../store/database/database.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { hasReadyDocuments } from '../../store/knowledge/documents.ts'
import { startClaimedWork } from '../claimed-work.ts'
import { recordedSound } from './recorded-sound.ts'

const POLL_MS = 500
/** Models are waited for most of the time; one that needs no network takes its turn. */
const AT_ONCE = 4
/** So that a long run of one workspace does not hold up the others'. */
const MOST_OF_ONE = 3
/** Longer than the longest test may take. */
const LEASE_S = 660
const MAX_ATTEMPTS = 3
const PASSAGES = 4

type Knowledge = Pick<KnowledgeSources, 'vectors' | 'embeddings'>

/** What the api makes of an agent: the same for tests as for calls. */
export interface TestSubjects {
  agentSpec(
    agent: ServedAgent,
    variables: Readonly<Record<string, string>>,
    hasKnowledge: boolean,
    facts: { nowMs: number },
  ): AgentSpec
  limitsOf(agent: ServedAgent, limits: SessionLimits): SessionLimits
  retrieve(
    sources: KnowledgeSources,
    scope: VectorScope & { agentVersion: number | null },
    query: string,
    topK: number,
    signal: AbortSignal,
  ): Promise<readonly { filename: string; text: string }[]>
}

interface KnowledgeSources {
  store: Store
  vectors: VectorStore
  embeddings: Embeddings | undefined
}

interface AgentTestsContext {
  store: Store
  plugins: PluginRegistry
  prices: Prices
  knowledge: Knowledge
  objects: ObjectStore
  subjects: TestSubjects
  config: { readonly idleTimeoutMs: number; readonly maxCallDurationMs: number }
  clock: Clock
  log: Logger
}

interface AgentTestsJob {
  /** Begins no other case; those that run are begun again elsewhere. */
  stop(graceMs: number): Promise<void>
}

/** Runs the cases of test runs. One whose worker died is run again, three times at most; then it has failed. */
export function startAgentTests(context: AgentTestsContext): AgentTestsJob {
  const { store, plugins, clock, log } = context
  let opened: Promise<SoundRoom> | undefined
  const soundRoom = (): Promise<SoundRoom> => {
    opened ??= import('../../runtime/agent-tests/sound/sound-room.ts').then((room) =>
      room.SoundRoom.open(plugins, log, clock),
    )
    opened.catch(() => {
      opened = undefined
    })
    return opened
  }
  async function run(due: DueCase, signal: AbortSignal): Promise<void> {
    const tenant = store.tenant(due.workspaceId)
    const broken = (error: string): TestResult => {
      return { verdict: 'error', facts: [], judged: [], error, spent: { inputTokens: 0, outputTokens: 0 }, tookMs: 0 }
    }
    try {
      if (due.attempts > MAX_ATTEMPTS) {
        const error = `The processes that ran it stopped, ${MAX_ATTEMPTS} times`
        await settleTestCase(tenant, due.caseId, broken(error))
        return
      }
      const result = await runCase({ ...context, soundRoom }, due, signal)
      if (result !== undefined) await settleTestCase(tenant, due.caseId, result)
    } catch (err) {
      if (signal.aborted) return releaseTestCase(tenant, due.caseId)
      log.warn({ err, caseId: due.caseId }, 'A test could not be run')
      await settleTestCase(tenant, due.caseId, broken(err instanceof Error ? err.message : String(err)))
    }
  }
  return startClaimedWork({
    ...{ atOnce: AT_ONCE, mostOfOne: MOST_OF_ONE, intervalMs: POLL_MS, isShort: true },
    claim: (wanted) => claimTestCases(store, { ...wanted, leaseS: LEASE_S }),
    run,
    onError(err, due) {
      if (due === undefined) log.warn({ err }, 'Tests to be run could not be looked for')
      else log.warn({ err, caseId: due.caseId }, 'The result of a test could not be written')
    },
  })
}

/** Runs a claimed case; undefined: its run was canceled meanwhile. */
async function runCase(
  context: AgentTestsContext & Pick<RunTestDeps, 'soundRoom'>,
  { caseId, workspaceId }: DueCase,
  signal: AbortSignal,
): Promise<TestResult | undefined> {
  const { store, plugins, prices, knowledge, objects, subjects, config, clock, log, soundRoom } = context
  const tenant = store.tenant(workspaceId)
  const found = await testCaseWithRun(tenant, caseId)
  if (found === undefined) return undefined
  const { testCase, run } = found
  const row = await agentById(tenant, run.agent_id)
  if (row === undefined) throw new Error('The agent was deleted')
  const served = await servedAgent(store, workspaceId, row, useOf(run.version))
  if ('refused' in served) throw new Error(`Quota reached: ${served.refused}`)
  const { agent } = served
  const test = testCase.definition
  const startsAtMs = startOf(test, agent.timezone, clock)
  const hasKnowledge = await hasReadyDocuments(tenant, agent)
  const spec = subjects.agentSpec(agent, test.variables ?? {}, hasKnowledge, { nowMs: startsAtMs })
  const scope = { workspaceId, agentId: agent.id, agentVersion: agent.agent_version }
  const { runTest } = await import('../../runtime/agent-tests/run-test.ts')
  return runTest(test, {
    agent: { ...spec, tools: [...(spec.tools ?? []), ...foundTools(agent, spec, test)] },
    limits: subjects.limitsOf(agent, { idleMs: config.idleTimeoutMs, maxDurationMs: config.maxCallDurationMs }),
    knowledge: (query, aborted) => subjects.retrieve({ store, ...knowledge }, scope, query, PASSAGES, aborted),
    handoffs: await handoffsOf(tenant, agent),
    recordedSound: recordedSound(tenant, objects),
    ...{ startsAtMs, plugins, prices, soundRoom, signal, log },
  })
}

/** Tools that the agent finds at an MCP server, which is not asked in a test: those the test stands in for. */
function foundTools(agent: ServedAgent, { tools = [] }: AgentSpec, test: AgentTest): ToolSpec[] {
  const finds = (agent.tools as unknown as readonly Tool[]).some(({ type }) => type === 'mcp')
  const known = new Set(tools.map(({ name }) => name))
  const names = finds ? Object.keys(test.tools ?? {}).filter((name) => !known.has(name)) : []
  return names.map((name) => ({ name, description: name, parameters: { type: 'object' }, kind: 'mcp' }))
}

/** The agents that it hands callers to, by tool; not those that webhooks name. */
async function handoffsOf(tenant: Tenant, agent: ServedAgent) {
  const tools = (agent.tools as unknown as readonly Tool[]).filter((tool) => tool.type === 'handoff')
  const named = tools.map(async ({ name, to }) => ({
    name,
    next: to === 'webhook' ? undefined : await agentById(tenant, to),
  }))
  const known = (await Promise.all(named)).flatMap(({ name, next }) =>
    next === undefined ? [] : [[name, { agentId: next.id, agentName: next.agent_name }] as const],
  )
  return new Map(known)
}

const useOf = (version: string): AgentUse => (version === 'live' || version === 'draft' ? version : Number(version))

function startOf({ clock: shown }: AgentTest, zone: string, clock: Clock): number {
  const read = shown === undefined ? undefined : readClock(shown, zone || 'UTC')
  return read === undefined ? clock.nowMs() : instantOf(read.wallMs, read.zone)
}
