import type { Static } from 'typebox'
import type { WorkerEntry } from '../../runtime/call/control/slots.ts'
import { workerAlias } from '../../runtime/call/control/worker-alias.ts'
import { WORKER_METRICS } from '../../runtime/conversation/worker-metrics.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { histogramQuantile, parsePrometheusText, type Sample } from '../../runtime/lib/prometheus-text.ts'
import { sharedResult } from '../../runtime/lib/shared-result.ts'
import { allowInfrastructure } from '../../runtime/plugin/guard/guard.ts'
import { listWorkers } from '../../store/redis/slots.ts'
import type { Services } from '../services.ts'
import { WORKER_STATES, type Workload } from './schema.ts'

const SCRAPE_TIMEOUT_MS = 1000
const MAX_PAGE_BYTES = 1024 * 1024

type WorkerLoad = Static<typeof Workload>['workers'][number]

/** A worker's id names its host and process: with `hidesHosts` it goes by the name that calls have it by. */
export type AskWorkload = (options: { hidesHosts: boolean }) => Promise<Static<typeof Workload>>

type Sources = Pick<Services, 'redis' | 'config' | 'clock' | 'log'>

/** Every Member may ask, as often as they like: the workers are scraped once within it. */
const TTL_MS = 1_000

export function workloadOf(sources: Sources): AskWorkload {
  const scraped = sharedResult(() => readWorkload(sources), TTL_MS, sources.clock)
  return async ({ hidesHosts }) => {
    const found = await scraped()
    if (!hidesHosts) return found
    const workers = found.workers.map((worker) => ({ ...worker, worker_id: workerAlias(worker.worker_id) }))
    return { ...found, workers: workers.sort(byId) }
  }
}

const byId = (a: WorkerLoad, b: WorkerLoad): number => (a.worker_id < b.worker_id ? -1 : 1)

/** Scrapes every live worker's metrics at once. Takes a second at most, however many don't answer. */
async function readWorkload(services: Sources): Promise<Static<typeof Workload>> {
  const entries = await listWorkers(services.redis)
  const workers = await Promise.all(
    entries.map(async (entry) => {
      const page = await scrape(entry.metricsUrl, services.config.metricsToken).catch((err: unknown) => {
        services.log.debug({ err, workerId: entry.workerId }, 'Worker metrics could not be read')
        return undefined
      })
      return page === undefined ? unreachable(entry) : workerLoad(entry, parsePrometheusText(page))
    }),
  )
  workers.sort(byId)
  const sum = (pick: (worker: WorkerLoad) => number | null) => workers.reduce((total, w) => total + (pick(w) ?? 0), 0)
  const [activeSessions, capacity] = [sum((worker) => worker.active_sessions), sum((worker) => worker.capacity)]
  return {
    scraped_at: new Date(services.clock.nowMs()).toISOString(),
    totals: {
      workers: workers.length,
      active_sessions: activeSessions,
      capacity,
      utilization: share(activeSessions, capacity),
    },
    workers,
  }
}

async function scrape(url: string, token: string | undefined): Promise<string> {
  const disallow = allowInfrastructure([url])
  try {
    return await fetchPage(url, token)
  } finally {
    disallow()
  }
}

async function fetchPage(url: string, token: string | undefined): Promise<string> {
  const response = await fetch(url, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    signal: signalWithin(SCRAPE_TIMEOUT_MS),
    redirect: 'error',
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    throw new Error(`GET ${url} answered ${response.status}`)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body) {
    bytes += chunk.byteLength
    if (bytes > MAX_PAGE_BYTES) throw new Error(`GET ${url} answered more than ${MAX_PAGE_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** One worker's figures from its metrics page; what the page lacks is `null`. */
function workerLoad(entry: WorkerEntry, samples: readonly Sample[]): WorkerLoad {
  const named = (name: string) => samples.filter((sample) => sample.name === name)
  const value = (name: string) => named(name)[0]?.value ?? null
  const state = named(WORKER_METRICS.state).find((sample) => sample.value === 1)?.labels.state
  const turnBuckets = named(`${WORKER_METRICS.turnLatency}_bucket`)
    .filter((sample) => sample.labels.stage === 'total')
    .map((sample) => ({ le: sample.labels.le === '+Inf' ? Infinity : Number(sample.labels.le), count: sample.value }))
  const [activeSessions, capacity] = [value(WORKER_METRICS.activeSessions), value(WORKER_METRICS.capacity)]
  const build = named('patchbay_build_info')[0]?.labels
  return {
    worker_id: entry.workerId,
    pool: entry.pool ?? '',
    state: WORKER_STATES.find((known) => known === state) ?? 'unreachable',
    active_sessions: activeSessions,
    capacity,
    utilization: activeSessions === null || capacity === null ? null : share(activeSessions, capacity),
    cpu_utilization: value(WORKER_METRICS.cpuUtilization),
    memory_bytes: value(WORKER_METRICS.memoryBytes),
    event_loop_lag_ms: inMs(value(WORKER_METRICS.eventLoopLag)),
    turn_latency_p50_ms: inMs(histogramQuantile(0.5, turnBuckets)),
    turn_latency_p95_ms: inMs(histogramQuantile(0.95, turnBuckets)),
    sessions_total: value(WORKER_METRICS.sessionsTotal),
    failures_total: named(WORKER_METRICS.failuresTotal).reduce((total, sample) => total + sample.value, 0),
    version: build?.version ?? null,
    commit: build?.commit ?? null,
  }
}

function unreachable(entry: WorkerEntry): WorkerLoad {
  return {
    worker_id: entry.workerId,
    pool: entry.pool ?? '',
    state: 'unreachable',
    active_sessions: null,
    capacity: null,
    utilization: null,
    cpu_utilization: null,
    memory_bytes: null,
    event_loop_lag_ms: null,
    turn_latency_p50_ms: null,
    turn_latency_p95_ms: null,
    sessions_total: null,
    failures_total: null,
    version: null,
    commit: null,
  }
}

/** Metrics are in seconds; thousandths of a millisecond are noise. */
function inMs(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * 1e6) / 1e3
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000
}

export const workloadExample = {
  scraped_at: '2026-02-07T09:00:00.000Z',
  totals: { workers: 1, active_sessions: 3, capacity: 20, utilization: 0.15 },
  workers: [
    {
      worker_id: 'worker-5f2c09d1e7ab',
      pool: '',
      state: 'ready',
      active_sessions: 3,
      capacity: 20,
      utilization: 0.15,
      cpu_utilization: 0.12,
      memory_bytes: 312475648,
      event_loop_lag_ms: 1.2,
      turn_latency_p50_ms: 640,
      turn_latency_p95_ms: 910,
      sessions_total: 118,
      failures_total: 0,
      version: '0.1.0',
      commit: '5f2c09d1e7ab',
    },
  ],
}
