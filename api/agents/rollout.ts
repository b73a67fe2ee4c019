import type { Static } from 'typebox'
import { uuidv7 } from 'uuidv7'
import { wilson } from '../../runtime/agent-tests/wilson.ts'
import { roundUsd } from '../../runtime/call/cost.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { meanInterval } from '../../runtime/rollouts/guard.ts'
import { contentColumns } from '../../store/agents/agent-versions.ts'
import {
  compareVersions,
  dispositionOf,
  rolloutFigures,
  sampleOf,
  setRollout,
  type VersionFigures,
} from '../../store/agents/rollouts.ts'
import { missingDocuments, versionByNumber } from '../../store/agents/versions-page.ts'
import type { Agent, AgentRollout, GuardFigure } from '../../store/database/schema.ts'
import type { Tenant } from '../../store/database/tenant.ts'
import { defineRoute } from '../route.ts'
import { type Fault, ValidationError } from '../schema.ts'
import type { Services } from '../services.ts'
import { Detail } from '../workspaces/schema.ts'
import { agentFaults } from './faults.ts'
import { handedTo, handoffAgents } from './handoff-agents.ts'
import { publisherOf } from './publish.ts'
import { agent_id, requireAgent } from './require-agent.ts'
import {
  DEFAULT_MIN_CALLS,
  DEFAULT_PLANNED_CALLS,
  type FigureInterval,
  type GuardInput,
  RolloutBody,
  RolloutInput,
} from './rollout-body.ts'
import { agentBody } from './schema.ts'

const tag = 'Agent versions'

/** Weights as people write them: 0.3333. */
const WEIGHTS_TOLERANCE = 1e-3

const unknown = { value: null, low: null, high: null }
const rolloutExample: Static<typeof RolloutBody> = {
  rollout_id: '0197f3a2-7c1e-7000-8000-000000000041',
  status: 'running',
  rules: [],
  split: [
    { version: 2, weight: 0.8 },
    { version: 3, weight: 0.2 },
  ],
  sticky: 'contact',
  guard: { figure: 'success', min_calls: 50, planned_calls: 400, stop_when: 'worse', z: null, boundary: null },
  started_at: '2026-01-31T09:00:00.000Z',
  started_by: { id: '0197f3a2-7c1e-7000-8000-000000000001', name: 'Ada Lovelace' },
  stopped: null,
  versions: [2, 3].map((version) => ({
    ...{ version, calls: 0, answered: 0, success: unknown, faults: unknown, disposition: null },
    ...{ latency_p95_ms: unknown, cost_usd: unknown },
  })),
}

/** The versions that calls may get by it. */
export const versionsOfRollout = ({ split, rules, stopped }: AgentRollout): Set<number> =>
  new Set([...split, ...rules].map(({ version }) => version).concat(stopped?.serves ?? []))

/** What keeps a version from being served: it is deleted, or what it names is. */
async function versionFaults(tenant: Tenant, agent: Agent, number: number, services: Services): Promise<string[]> {
  const found = await versionByNumber(tenant, agent.id, number)
  if (found === undefined) return [`version ${number} does not exist`]
  const missing = await missingDocuments(tenant, agent.id, found.content)
  const names = found.content.documents.filter(({ id }) => missing.includes(id)).map(({ filename }) => filename)
  const row = { ...agent, ...contentColumns(found.content) }
  const { tools, ...fields } = agentBody({ ...row, phone_numbers: [], documents: 0 })
  const faults = await agentFaults(fields, row, tenant, services)
  const targets = await handoffAgents(tenant, tools, agent.id)
  const gone = handedTo(tools).filter((id) => !targets.names.has(id))
  return [
    ...names.map((name) => `the document ${name} of version ${number} is deleted`),
    ...faults.map(({ loc, msg }) => `${loc.slice(1).join('.')} of version ${number} ${msg}`),
    ...gone.map((id) => `a tool hands over to agent ${id}, which is deleted`),
  ]
}

async function rolloutFaults(
  input: Static<typeof RolloutInput>,
  tenant: Tenant,
  agent: Agent,
  services: Services,
): Promise<Fault[]> {
  const faults: Fault[] = []
  const fault = (loc: readonly (string | number)[], msg: string) =>
    faults.push({ loc: ['body', ...loc.map(String)], msg, type: 'value_error' })
  const sum = input.split.reduce((total, { weight }) => total + weight, 0)
  if (Math.abs(sum - 1) > WEIGHTS_TOLERANCE) fault(['split'], `weights must sum to 1, and sum to ${sum}`)
  const versions = input.split.map(({ version }) => version)
  if (new Set(versions).size < versions.length) fault(['split'], 'must name each version once')
  if (input.guard && versions.length !== 2) fault(['guard'], 'compares two versions: split must have two')
  const known = new Map<number, string[]>()
  const places = [
    ...input.split.map(({ version }, i) => [version, ['split', i, 'version']] as const),
    ...input.rules.map(({ version }, i) => [version, ['rules', i, 'version']] as const),
  ]
  for (const [version, place] of places) {
    const wrong = known.get(version) ?? (await versionFaults(tenant, agent, version, services))
    known.set(version, wrong)
    for (const msg of wrong) fault(place, msg)
  }
  return faults
}

function shareInterval(part: number, calls: number): Static<typeof FigureInterval> {
  return calls === 0 ? unknown : { value: part / calls, ...wilson(part, calls) }
}

function figuresBody(version: number, figures: VersionFigures | undefined, figure: GuardFigure | undefined) {
  const { calls = 0, answered = 0, succeeded = 0, judged = 0, faults = 0, disposed = 0 } = figures ?? {}
  const logs = meanInterval(sampleOf(figures, 'latency_p95'))
  const usd = meanInterval(sampleOf(figures, 'cost'))
  const each = (of: typeof logs, change: (value: number) => number) => {
    const { value, low, high } = of
    return { value: value && change(value), low: low && change(low), high: high && change(high) }
  }
  return {
    ...{ version, calls, answered },
    success: shareInterval(succeeded, judged),
    faults: shareInterval(faults, calls),
    disposition: dispositionOf(figure) === null ? null : shareInterval(disposed, answered),
    latency_p95_ms: each(logs, (value) => Math.round(Math.exp(value))),
    cost_usd: each(usd, roundUsd),
  }
}

async function rolloutBody(tenant: Tenant, rollout: AgentRollout): Promise<Static<typeof RolloutBody>> {
  const { guard, stopped } = rollout
  const figures = await rolloutFigures(tenant, rollout.id, dispositionOf(guard?.figure))
  const versions = rollout.split.map(({ version }) => version).sort((a, b) => a - b)
  const found = compareVersions(rollout, figures)?.verdict
  return {
    rollout_id: rollout.id,
    status: rollout.status,
    rules: rollout.rules.map(({ version, attribute, operator, values }) => {
      return { match: { attribute, operator, values: [...values] }, version }
    }),
    split: [...rollout.split],
    sticky: rollout.sticky,
    guard: guard && { ...guard, z: found?.z ?? null, boundary: found?.boundary ?? null },
    started_at: rollout.started_at,
    started_by: rollout.started_by,
    stopped: stopped
      ? { at: stopped.at, version: stopped.version, serves: stopped.serves, z: stopped.z, boundary: stopped.boundary }
      : null,
    versions: versions.map((version) => figuresBody(version, figures.get(version), guard?.figure)),
  }
}

function guardOf(input: Static<typeof GuardInput>): AgentRollout['guard'] {
  const { min_calls = DEFAULT_MIN_CALLS, planned_calls = DEFAULT_PLANNED_CALLS, stop_when = 'worse' } = input
  return { figure: input.figure as GuardFigure, min_calls, planned_calls, stop_when }
}

const read = defineRoute({
  method: 'GET',
  path: '/agents/{agent_id}/rollout',
  auth: 'jwt_or_key',
  role: 'member',
  params: { agent_id },
  success: { status: 200, schema: RolloutBody },
  errors: ['agent_not_found', 'rollout_not_found'],
  tag,
  summary: 'The rollout of an agent, with what the calls of each version came to',
  examples: { success: rolloutExample },
  handler: async ({ params, tenant }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    if (agent.rollout === null) throw new PatchbayError('rollout_not_found')
    return rolloutBody(tenant, agent.rollout)
  },
})

const replace = defineRoute({
  method: 'PUT',
  path: '/agents/{agent_id}/rollout',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id },
  body: RolloutInput,
  success: { status: 200, schema: RolloutBody },
  errors: ['agent_not_found'],
  tag,
  summary: 'Give versions of an agent to some of its calls',
  description:
    'Calls that begin from now on. A rollout of the same versions keeps each contact where it is while weights change; what is compared begins anew. Calls that a rule decides are not compared.',
  examples: {
    body: { rules: [], split: [{ version: 1, weight: 1 }], sticky: 'contact' },
    success: rolloutExample,
  },
  handler: async (request, services) => {
    const { params, body, tenant } = request
    const agent = await requireAgent(tenant, params.agent_id)
    const faults = await rolloutFaults(body, tenant, agent, services)
    if (faults.length > 0) throw new ValidationError(faults)
    const versionsOf = (split: AgentRollout['split']) => split.map(({ version }) => version).join()
    const before = agent.rollout
    const isSame = before !== null && versionsOf(before.split) === versionsOf(body.split)
    const rollout: AgentRollout = {
      id: uuidv7(),
      rules: body.rules.map(({ match, version }) => ({ ...match, version })),
      split: body.split,
      sticky: body.sticky,
      seed: isSame ? before.seed : uuidv7(),
      guard: body.guard ? guardOf(body.guard) : null,
      status: 'running',
      started_at: new Date(services.clock.nowMs()).toISOString(),
      started_by: publisherOf(request),
    }
    if (!(await setRollout(tenant, agent.id, rollout))) throw new PatchbayError('agent_not_found')
    return rolloutBody(tenant, rollout)
  },
})

const remove = defineRoute({
  method: 'DELETE',
  path: '/agents/{agent_id}/rollout',
  auth: 'jwt_or_scope',
  role: 'developer',
  scope: 'agents',
  params: { agent_id },
  success: { status: 200, schema: Detail },
  errors: ['agent_not_found', 'rollout_not_found'],
  tag,
  summary: 'End the rollout of an agent: all calls get its live version',
  examples: { success: { detail: 'Rollout ended' } },
  handler: async ({ params, tenant }) => {
    const agent = await requireAgent(tenant, params.agent_id)
    if (agent.rollout === null) throw new PatchbayError('rollout_not_found')
    await setRollout(tenant, agent.id, null)
    return { detail: 'Rollout ended' }
  },
})

export const rolloutRoutes = [read, replace, remove]
