import { Counter, Gauge, type Registry } from 'prom-client'
import type { Carriers } from '../runtime/dialing/carriers.ts'
import type { TrunkState } from '../runtime/plugin-sdk/telephony/carrier.ts'
import { exemplarHistogram } from '../runtime/process/metrics/exemplar-histogram.ts'
import type { Outbound } from './calls/outbound-start.ts'
import type { Sessions } from './realtime/start.ts'
import type { AnyRoute } from './route.ts'

/** Called with every answer. `route` is undefined where no route matched, `traceId` without tracing. */
export type ObserveAnswer = (route: AnyRoute | undefined, status: number, durationMs: number, traceId?: string) => void

/** Times answers by route and status. The observer of a pair is looked up once, because labels cost more than counting. */
export function observeAnswers(registry: Registry): ObserveAnswer {
  const histogram = exemplarHistogram(registry, {
    name: 'patchbay_http_request_duration_seconds',
    help: 'Time from the head of a request to its answer; of a stream, to its beginning.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })
  const unmatched = {}
  const observers = new Map<object, Map<number, { observe(seconds: number): void }>>()

  function observerOf(route: AnyRoute | undefined, status: number) {
    const byStatus = observers.get(route ?? unmatched) ?? new Map<number, { observe(seconds: number): void }>()
    const observer = histogram.labels(labelsOf(route, status))
    observers.set(route ?? unmatched, byStatus.set(status, observer))
    return observer
  }

  return (route, status, durationMs, traceId) => {
    if (traceId !== undefined) {
      const labels = labelsOf(route, status)
      histogram.observe({ labels, value: durationMs / 1000, exemplarLabels: { trace_id: traceId } })
      return
    }
    const observer = observers.get(route ?? unmatched)?.get(status) ?? observerOf(route, status)
    observer.observe(durationMs / 1000)
  }
}

const labelsOf = (route: AnyRoute | undefined, status: number) => ({
  ...{ method: route?.method ?? '', route: route?.path ?? '', status: String(status) },
})

/** Counts the audio of callers that voice workers read too slowly to be sent. */
export function countLinkDrops(registry: Registry): (bytes: number) => void {
  const counter = new Counter({
    name: 'patchbay_link_dropped_bytes_total',
    help: "Callers' audio not sent to voice workers that read too slowly.",
    registers: [registry],
  })
  return (bytes) => counter.inc(bytes)
}

/** Counts the incoming calls that were refused, by provider and true reason. */
export function countRefusedCalls(registry: Registry): Counter<'provider' | 'reason'> {
  return new Counter({
    name: 'patchbay_refused_calls_total',
    help: 'Incoming calls that were refused, by provider and reason.',
    labelNames: ['provider', 'reason'],
    registers: [registry],
  })
}

/** Counts what carriers turned away before it was a call: unknown sources, floods, scanners, malformed messages. */
export function countCarrierRefusals(registry: Registry, carriers: Carriers, usable: () => Iterable<string>): void {
  new Counter({
    name: 'patchbay_carrier_refusals_total',
    help: 'Messages and calls that a carrier refused by itself, by provider and reason.',
    labelNames: ['provider', 'reason'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const provider of usable()) {
        const carrier = await carriers.get(provider)
        for (const [reason, count] of carrier.refusals ?? []) this.inc({ provider, reason }, count)
      }
    },
  })
}

/** How each SIP trunk does, as this node sees it. */
export function measureTrunks(registry: Registry, carriers: Carriers): void {
  const labelNames = ['trunk', 'workspace'] as const
  const each = async (measure: (labels: { trunk: string; workspace: string }, state: TrunkState) => void) => {
    for (const { id, workspaceId, state } of await carriers.trunks()) {
      measure({ trunk: id, workspace: workspaceId }, state)
    }
  }
  new Gauge({
    name: 'patchbay_trunk_up',
    help: '1 where the trunk answered its last REGISTER or OPTIONS, 0 where it did not; none where this node does not ask it.',
    ...{ labelNames, registers: [registry] },
    async collect() {
      this.reset()
      await each((labels, { contact }) => contact && this.set(labels, contact.status === 200 ? 1 : 0))
    },
  })
  new Gauge({
    name: 'patchbay_trunk_active_calls',
    help: 'Calls of this node over the trunk, in both directions.',
    ...{ labelNames, registers: [registry] },
    async collect() {
      this.reset()
      await each((labels, { activeCalls }) => this.set(labels, activeCalls))
    },
  })
  new Counter({
    name: 'patchbay_trunk_calls_total',
    help: 'Outbound calls over the trunk by the SIP status of their last answer; 0: there was none.',
    ...{ labelNames: [...labelNames, 'status'], registers: [registry] },
    async collect() {
      this.reset()
      await each((labels, { byStatus }) => {
        for (const [status, count] of byStatus) this.inc({ ...labels, status: String(status) }, count)
      })
    },
  })
  new Counter({
    name: 'patchbay_trunk_failovers_total',
    help: 'Calls that an address of the trunk, or all of it, could not take, and that the next one was asked for.',
    ...{ labelNames, registers: [registry] },
    async collect() {
      this.reset()
      await each((labels, { failovers }) => this.inc(labels, failovers))
    },
  })
}

/** Web calls of this node over WebRTC, and the media worker they go through. */
export function measureWebRtc(registry: Registry, { webrtc }: Pick<Sessions, 'webrtc'>): void {
  const registers = [registry]
  new Gauge({
    name: 'patchbay_webrtc_up',
    help: '1 while web calls can go over WebRTC.',
    registers,
    collect() {
      this.set(webrtc.terms === null ? 0 : 1)
    },
  })
  new Gauge({
    name: 'patchbay_webrtc_sessions',
    help: 'Web calls over WebRTC, those included whose browser has not answered yet.',
    registers,
    collect() {
      this.set(webrtc.sessions)
    },
  })
  new Counter({
    name: 'patchbay_webrtc_worker_deaths_total',
    help: 'Media workers that died and were replaced.',
    registers,
    collect() {
      this.reset()
      this.inc(webrtc.server?.restarts ?? 0)
    },
  })
  new Gauge({
    name: 'patchbay_webrtc_worker_cpu_seconds',
    help: 'Time of a core that the running media worker has used.',
    registers,
    async collect() {
      this.set((await webrtc.server?.cpuSeconds().catch(() => undefined)) ?? 0)
    },
  })
}

/** Calls this node holds now, and sessions that wait on it for a voice slot. */
export function countLiveCalls(
  registry: Registry,
  {
    sessions,
    outbound,
  }: { sessions: Pick<Sessions, 'calls' | 'waiting' | 'workers'>; outbound: Pick<Outbound, 'ringing'> },
): void {
  const registers = [registry]
  new Gauge({
    name: 'patchbay_calls_live',
    help: 'Calls of this node: in conversation, or ringing at the other end',
    labelNames: ['state'],
    registers,
    collect() {
      this.set({ state: 'conversation' }, sessions.calls.size)
      this.set({ state: 'ringing' }, outbound.ringing())
    },
  })
  new Gauge({
    name: 'patchbay_admission_waiting',
    help: 'Sessions that wait for a voice slot on this node, by kind',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of sessions.waiting()) this.set({ kind }, count)
    },
  })
  new Gauge({
    name: 'patchbay_linked_workers',
    help: 'Voice workers linked to this node, by state',
    labelNames: ['state'],
    registers,
    collect() {
      this.reset()
      for (const state of ['ready', 'overloaded', 'draining']) this.set({ state }, 0)
      for (const { state } of sessions.workers()) this.inc({ state })
    },
  })
}
