import type { Latencies } from './providers-client.ts'

interface Common {
  port: number
  latencies: Latencies
}

/** What one side is asked to live through. */
export type Scenario =
  | (Common & { kind: 'latency'; sessions: number; turns: number; fixedEndpointingMs?: number; guarded?: boolean })
  | (Common & { kind: 'pauses'; rounds: number })
  | (Common & { kind: 'barge'; rounds: number })
  | (Common & { kind: 'cpu'; sessions: number; seconds: number })
  | (Common & { kind: 'memory'; calls: number; warmUp: number; atOnce: number })

/** What it answers. Times in milliseconds. */
export type Result =
  | { kind: 'latency'; turnsMs: number[]; firstTurnsMs: number[]; unanswered: number }
  | { kind: 'pauses'; cutOff: number; total: number }
  | { kind: 'barge'; stoppedMs: number[]; missed: number; gapsMs: number[] }
  | { kind: 'cpu'; coreShare: number; answersAMinute: number; cadenceMs: number[]; rssBytes: number }
  /** After the warm-up, and after all calls. */
  | { kind: 'memory'; heapBytes: number[] }
