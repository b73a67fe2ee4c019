import { Counter, Gauge, type Registry } from 'prom-client'
import type { WorkerState } from '../call/link/messages.ts'
import type { TurnLatency } from '../call/types/usage.ts'
import { exemplarHistogram } from '../process/metrics/exemplar-histogram.ts'
import { processRegistry } from '../process/metrics/process-registry.ts'
import { traceIdOf } from '../traces/trace-context.ts'

/** Names of a voice worker's metrics; GET /reports/workload is computed from them. */
export const WORKER_METRICS = {
  /** Gauge 1 with the labels `worker_id` and `pool`. */
  info: 'patchbay_worker_info',
  /** Gauge by label `state` (ready, draining, overloaded): 1 for the present one, 0 for the others. */
  state: 'patchbay_worker_state',
  activeSessions: 'patchbay_worker_active_sessions',
  capacity: 'patchbay_worker_capacity',
  /** Share of one core over the last second; above 1 with several threads. */
  cpuUtilization: 'patchbay_worker_cpu_utilization',
  memoryBytes: 'patchbay_worker_memory_bytes',
  /** As it is judged: the worker is overloaded exactly while it is above the limit. */
  eventLoopLag: 'patchbay_worker_event_loop_lag_seconds',
  eventLoopLagLimit: 'patchbay_worker_event_loop_lag_limit_seconds',
  /** Histogram by label `stage`: total, endpointing, llm, tts. */
  turnLatency: 'patchbay_worker_turn_latency_seconds',
  sessionsTotal: 'patchbay_worker_sessions_total',
  /** Counter by label `stage`: stt, llm, tts, session, process. */
  failuresTotal: 'patchbay_worker_failures_total',
  /** Counter by label `where`: line, late, voice_activity. */
  audioLostTotal: 'patchbay_worker_audio_lost_seconds_total',
  linkDroppedBytesTotal: 'patchbay_worker_link_dropped_bytes_total',
} as const

const WORKER_STATES = ['ready', 'draining', 'overloaded'] as const satisfies readonly WorkerState[]
const LATENCY_BUCKETS_S = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 6, 10,
]

/** What is read at each scrape. */
interface WorkerReadings {
  state: WorkerState
  activeSessions: number
  cpuUtilization: number
  memoryBytes: number
  eventLoopLagMs: number
  /** Overloaded above this. */
  eventLoopLagLimitMs: number
}

/** `line`: it never came; `late`: it came too late; `voice_activity`: the model was too slow for it. */
export type LostAudio = 'line' | 'late' | 'voice_activity'

type FailureStage = 'stt' | 'llm' | 'tts' | 'session' | 'process'

interface WorkerMetrics {
  readonly registry: Registry
  sessionOpened(): void
  turn(latency: TurnLatency, callId: string): void
  failure(stage: FailureStage): void
  /** So much of a caller's sound was not heard. */
  audioLost(where: LostAudio, ms: number): void
  /** Audio for an api node that reads too slowly. */
  linkDropped(bytes: number): void
}

/**
 * A voice worker's metrics on a registry of their own.
 * @param traced traces are exported: latencies carry their trace's id
 */
export function createWorkerMetrics(
  { workerId, pool }: { workerId: string; pool: string },
  capacity: () => number,
  traced: boolean,
  read: () => WorkerReadings,
): WorkerMetrics {
  const registry = processRegistry('voice')
  const registers = [registry]
  const gauge = (name: string, help: string, value: (readings: WorkerReadings) => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value(read()))
      },
    })
  }
  new Gauge({ name: WORKER_METRICS.info, help: 'The worker', labelNames: ['worker_id', 'pool'], registers }).set(
    { worker_id: workerId, pool },
    1,
  )
  new Gauge({
    name: WORKER_METRICS.state,
    help: 'Whether the worker takes sessions',
    labelNames: ['state'],
    registers,
    collect() {
      const { state } = read()
      for (const one of WORKER_STATES) this.set({ state: one }, one === state ? 1 : 0)
    },
  })
  gauge(WORKER_METRICS.activeSessions, 'Sessions running', (readings) => readings.activeSessions)
  gauge(WORKER_METRICS.capacity, 'Sessions taken at once', capacity)
  gauge(WORKER_METRICS.cpuUtilization, 'Share of one core used', (readings) => readings.cpuUtilization)
  gauge(WORKER_METRICS.memoryBytes, 'Resident memory', (readings) => readings.memoryBytes)
  gauge(
    WORKER_METRICS.eventLoopLag,
    'Stall of the event loop that is judged',
    (readings) => readings.eventLoopLagMs / 1_000,
  )
  gauge(
    WORKER_METRICS.eventLoopLagLimit,
    'Above this lag the worker is overloaded and takes no session; lower while it is',
    (readings) => readings.eventLoopLagLimitMs / 1_000,
  )
  const turnLatency = exemplarHistogram(registry, {
    name: WORKER_METRICS.turnLatency,
    help: "End of the caller's speech to the first sound of the answer, by stage",
    labelNames: ['stage'],
    buckets: LATENCY_BUCKETS_S,
  })
  const sessions = new Counter({ name: WORKER_METRICS.sessionsTotal, help: 'Sessions taken', registers })
  const failures = new Counter({
    name: WORKER_METRICS.failuresTotal,
    help: 'Failures of a stage',
    labelNames: ['stage'],
    registers,
  })
  const audioLost = new Counter({
    name: WORKER_METRICS.audioLostTotal,
    help: "Callers' sound that was not heard, in seconds",
    labelNames: ['where'],
    registers,
  })
  const linkDropped = new Counter({
    name: WORKER_METRICS.linkDroppedBytesTotal,
    help: 'Audio not sent to api nodes that read too slowly',
    registers,
  })
  return {
    registry,
    audioLost: (where, ms) => audioLost.inc({ where }, ms / 1_000),
    linkDropped: (bytes) => linkDropped.inc(bytes),
    sessionOpened: () => sessions.inc(),
    turn(latency, callId) {
      const exemplarLabels = traced ? { trace_id: traceIdOf(callId) } : {}
      const observe = (stage: string, ms: number) =>
        turnLatency.observe({ labels: { stage }, value: ms / 1_000, exemplarLabels })
      observe('total', latency.totalMs)
      observe('endpointing', latency.endpointingMs)
      observe('llm', latency.llmMs)
      observe('tts', latency.ttsMs)
    },
    failure: (stage) => failures.inc({ stage }),
  }
}
