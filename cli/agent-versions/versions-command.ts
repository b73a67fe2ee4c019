import { casesOfRun } from '../agent-tests/cases-of-run.ts'
import { type ReportedRun, runText } from '../agent-tests/run-report.ts'
import { InstanceClient, InstanceError, LOCAL_URL } from '../instance/instance-client.ts'
import { type NamedAgent, namedAgent } from '../instance/named-agent.ts'
import { type ReportedRollout, rolloutText } from './rollout-text.ts'
import { type PublishWords, publishWords, type RolloutWords, rolloutWords } from './rollout-words.ts'
import type { VersionsCommand } from './versions-usage.ts'

/** The longest that Node waits for an answer to begin. */
const PUBLISH_TIMEOUT_MS = 290_000

/** What a command prints, and its exit code. */
interface Outcome {
  text: string
  code: 0 | 1 | 2
}

/** `patchbay publish` and `patchbay rollout`; `argv`: the words after them. */
export async function runVersionsCommand(
  command: VersionsCommand,
  { argv, env }: { argv: readonly string[]; env: Readonly<Record<string, string | undefined>> },
): Promise<Outcome> {
  try {
    const words = command === 'publish' ? publishWords(argv) : rolloutWords(argv)
    const client = new InstanceClient(env.PATCHBAY_URL || LOCAL_URL, env.PATCHBAY_API_KEY, 'read and agents')
    return 'end' in words ? await rollout(client, words) : await publish(client, words)
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), code: 2 }
  }
}

async function publish(client: InstanceClient, words: PublishWords): Promise<Outcome> {
  const agent = await namedAgent(client, words.agent)
  const path = `/agents/${agent.agent_id}`
  const asked = {
    ...(words.note === undefined ? {} : { note: words.note }),
    ...(words.requireTests === undefined ? {} : { require_tests: words.requireTests }),
  }
  try {
    const { body } = await client.post(`${path}/publish`, asked, PUBLISH_TIMEOUT_MS)
    const { version } = body as { version: number }
    if (version === agent.version) {
      return { text: `The draft of ${agent.agent_name} is as version ${version}, which is live`, code: 0 }
    }
    const running = (await rolloutOf(client, agent))?.status === 'running'
    const told = running ? '; its rollout decides which calls get it' : ''
    return { text: `Published version ${version} of ${agent.agent_name}${told}`, code: 0 }
  } catch (error) {
    if (!(error instanceof InstanceError) || error.code !== 'tests_failed') throw error
    const runId = String(error.params.run_id)
    const { body } = await client.get(`/tests/runs/${runId}`)
    const text = runText(body as ReportedRun, await casesOfRun(client, runId))
    return { text: `${agent.agent_name} was not published, as its tests did not pass:\n${text}`, code: 1 }
  }
}

async function rollout(client: InstanceClient, words: RolloutWords): Promise<Outcome> {
  const agent = await namedAgent(client, words.agent)
  const path = `/agents/${agent.agent_id}/rollout`
  const live = agent.version === null ? 'the live version' : `version ${agent.version}`
  if (words.end) {
    await client.delete(path)
    return { text: `The rollout of ${agent.agent_name} has ended: all calls get ${live}`, code: 0 }
  }
  const now = await rolloutOf(client, agent)
  const { split, guard, sticky, minCalls, plannedCalls } = words
  const changes = [split, guard, sticky, minCalls, plannedCalls].some((one) => one !== undefined)
  if (!changes) {
    return now === undefined
      ? { text: `${agent.agent_name} has no rollout: all calls get ${live}`, code: 0 }
      : outcomeOf(agent, now)
  }
  // A version that was stopped gets calls again only where somebody says so.
  if (split === undefined && now?.status !== 'running') {
    throw new Error(`${agent.agent_name} has no running rollout: give --split`)
  }
  const { body } = await client.put(path, {
    rules: now?.rules ?? [],
    split: split ?? now?.split,
    sticky: sticky ?? now?.sticky ?? 'contact',
    guard: guardOf(words, now),
  })
  return outcomeOf(agent, body as ReportedRollout)
}

function guardOf({ guard, minCalls, plannedCalls }: RolloutWords, now: ReportedRollout | undefined) {
  const { z: _, boundary: __, ...kept } = now?.guard ?? { figure: undefined, z: null, boundary: null }
  const own = guard === undefined ? kept : { figure: guard }
  if (own.figure === undefined || own.figure === 'none') {
    if (minCalls === undefined && plannedCalls === undefined) return null
    throw new Error('--min-calls and --planned-calls are of a guard: give --guard')
  }
  return {
    ...own,
    ...(minCalls === undefined ? {} : { min_calls: minCalls }),
    ...(plannedCalls === undefined ? {} : { planned_calls: plannedCalls }),
  }
}

const outcomeOf = (agent: NamedAgent, found: ReportedRollout): Outcome => {
  return { text: rolloutText(agent.agent_name, found), code: found.status === 'stopped' ? 1 : 0 }
}

async function rolloutOf(client: InstanceClient, agent: NamedAgent): Promise<ReportedRollout | undefined> {
  try {
    return (await client.get(`/agents/${agent.agent_id}/rollout`)).body as ReportedRollout
  } catch (error) {
    if (error instanceof InstanceError && error.code === 'rollout_not_found') return undefined
    throw error
  }
}
