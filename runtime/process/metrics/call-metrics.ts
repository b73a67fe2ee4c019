import { Counter, Histogram } from 'prom-client'

/** Calls that ended, as this process wrote them down: each once, wherever in the installation that was. */
export const callMetrics = {
  ended: new Counter({
    name: 'patchbay_calls_total',
    help: 'Calls that ended, by type, direction, status and the reason of the end',
    labelNames: ['type', 'direction', 'status', 'end_reason'] as const,
    registers: [],
  }),
  duration: new Histogram({
    name: 'patchbay_call_duration_seconds',
    help: 'From the answer to the end of calls that were answered',
    labelNames: ['type', 'direction'] as const,
    buckets: [5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1_800, 3_600],
    registers: [],
  }),
  cost: new Counter({
    name: 'patchbay_call_cost_usd_total',
    help: 'Cost of ended calls in US dollars, by part: llm, stt, tts, platform',
    labelNames: ['part'] as const,
    registers: [],
  }),
  unpriced: new Counter({
    name: 'patchbay_calls_unpriced_total',
    help: 'Ended calls of which a part has no known price',
    registers: [],
  }),
  ofWorkspaces: new Counter({
    name: 'patchbay_workspace_calls_total',
    help: 'Calls that ended, by workspace and status; beyond a thousand workspaces a process counts the others as "other"',
    labelNames: ['workspace', 'status'] as const,
    registers: [],
  }),
  secondsOfWorkspaces: new Counter({
    name: 'patchbay_workspace_call_seconds_total',
    help: 'From the answer to the end of calls that were answered, by workspace',
    labelNames: ['workspace'] as const,
    registers: [],
  }),
  costOfWorkspaces: new Counter({
    name: 'patchbay_workspace_call_cost_usd_total',
    help: 'Cost of ended calls in US dollars, by workspace',
    labelNames: ['workspace'] as const,
    registers: [],
  }),
  mos: new Histogram({
    name: 'patchbay_call_mos',
    help: 'Mean opinion score of the lines of ended calls, as far as it is known',
    labelNames: ['type'] as const,
    buckets: [1.5, 2, 2.5, 3, 3.5, 3.8, 4, 4.2, 4.3, 4.4],
    registers: [],
  }),
  loss: new Histogram({
    name: 'patchbay_call_loss_ratio',
    help: "Share of the caller's packets that never came, of ended calls",
    labelNames: ['type'] as const,
    buckets: [0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    registers: [],
  }),
  jitter: new Histogram({
    name: 'patchbay_call_jitter_seconds',
    help: "Jitter of the caller's packets, of ended calls",
    labelNames: ['type'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25],
    registers: [],
  }),
  roundTrip: new Histogram({
    name: 'patchbay_call_round_trip_seconds',
    help: 'Way to the caller and back, of ended calls',
    labelNames: ['type'] as const,
    buckets: [0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1],
    registers: [],
  }),
}

/** A call as its end was written. */
export interface EndedCall {
  readonly workspace_id: string
  readonly call_type: string
  readonly direction: string
  readonly status: string
  readonly end_reason: string | null
  readonly duration_ms: number | null
  readonly cost_llm: number | null
  readonly cost_stt: number | null
  readonly cost_tts: number | null
  readonly platform_cost: number | null
  readonly quality: { loss?: number; jitter_ms?: number; rtt_ms?: number; mos?: number } | null
}

const PARTS = { llm: 'cost_llm', stt: 'cost_stt', tts: 'cost_tts', platform: 'platform_cost' } as const

/** Each is several series of every process. */
const MOST_WORKSPACES = 1_000
const workspaces = new Set<string>()

function labelOf(workspaceId: string): string {
  if (workspaces.size < MOST_WORKSPACES) workspaces.add(workspaceId)
  return workspaces.has(workspaceId) ? workspaceId : 'other'
}

export function observeEndedCall(call: EndedCall): void {
  const { call_type: type, direction, status } = call
  callMetrics.ended.inc({ type, direction, status, end_reason: call.end_reason ?? '' })
  if ((call.duration_ms ?? 0) > 0) callMetrics.duration.observe({ type, direction }, (call.duration_ms ?? 0) / 1_000)
  const { mos, loss, jitter_ms: jitterMs, rtt_ms: roundTripMs } = call.quality ?? {}
  if (mos !== undefined) callMetrics.mos.observe({ type }, mos)
  if (loss !== undefined) callMetrics.loss.observe({ type }, loss)
  if (jitterMs !== undefined) callMetrics.jitter.observe({ type }, jitterMs / 1_000)
  if (roundTripMs !== undefined) callMetrics.roundTrip.observe({ type }, roundTripMs / 1_000)
  const workspace = labelOf(call.workspace_id)
  const costs = Object.values(PARTS).map((column) => call[column] ?? 0)
  callMetrics.ofWorkspaces.inc({ workspace, status })
  callMetrics.secondsOfWorkspaces.inc({ workspace }, (call.duration_ms ?? 0) / 1_000)
  callMetrics.costOfWorkspaces.inc(
    { workspace },
    costs.reduce((sum, cost) => sum + cost, 0),
  )
  for (const [part, column] of Object.entries(PARTS)) callMetrics.cost.inc({ part }, call[column] ?? 0)
  if (Object.values(PARTS).some((column) => call[column] === null)) callMetrics.unpriced.inc()
}
