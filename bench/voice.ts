/**
 * The voice path beside a stock AgentSession of @livekit/agents in the same run: latency, false cut-offs, barge-in,
 * CPU and memory. Each side runs in a process of its own; the providers, simulated over real sockets, in a third.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { VOICE_NODE_OPTIONS } from '../cli/node-options.ts'
import { quantile } from './support/quantile.ts'
import { rounded } from './support/rounded.ts'
import { runSubject } from './support/run-subject.ts'
import type { Latencies } from './voice/providers-client.ts'
import type { Result, Scenario } from './voice/scenario.ts'

interface Figure {
  name: string
  ours: number
  peer: number | null
  ratio: number | null
  target: string
  runs: number
}

const NONE: Latencies = { sttMs: 0, llmMs: 0, ttsMs: 0 }
/** About what hosted providers take. */
const TYPICAL: Latencies = { sttMs: 120, llmMs: 250, ttsMs: 120 }
/** Providers in the same rack: what is left is mostly the wait for the end of the turn. */
const NEAR: Latencies = { sttMs: 20, llmMs: 60, ttsMs: 30 }
const ENDPOINTING_MS = 300

type Side = 'ours' | 'stock'
type ScenarioOf<K extends Scenario['kind']> = Omit<Extract<Scenario, { kind: K }>, 'port'>

export async function run(args: readonly string[]): Promise<void> {
  const scale = args.includes('--long') ? 4 : 1
  const only = args.find((argument) => !argument.startsWith('-'))
  const server = fork(join(import.meta.dirname, 'voice/providers-server.ts'))
  const [{ port }] = (await once(server, 'message')) as [{ port: number }]
  const play = <K extends Scenario['kind']>(side: Side, scenario: ScenarioOf<K>) => live<K>(side, scenario, port)
  const both = <K extends Scenario['kind']>(scenario: ScenarioOf<K>, peer: ScenarioOf<K> = scenario) =>
    // At the same time: whatever else the machine does, it does to both.
    Promise.all([play<K>('ours', scenario), play<K>('stock', peer)])
  const figures: Figure[] = []
  const note = (name: string, ours: number, peer: number | null, target: string, runs: number): void => {
    const ratio = peer === null || peer === 0 ? null : rounded(ours / peer)
    figures.push({ name, ours: rounded(ours), peer: peer === null ? null : rounded(peer), ratio, target, runs })
    process.stdout.write(`${JSON.stringify(figures.at(-1))}\n`)
  }
  const wanted = (part: string): boolean => only === undefined || only === part
  try {
    if (wanted('added')) {
      const turns = { kind: 'latency', sessions: 5, turns: 5 * scale, latencies: NONE } as const
      const [ours, peer] = await both<'latency'>({ ...turns, fixedEndpointingMs: ENDPOINTING_MS }, turns)
      const added = (result: { turnsMs: number[] }) => result.turnsMs.map((ms) => ms - ENDPOINTING_MS)
      const runs = ours.turnsMs.length
      note(
        'added latency p50 (ms)',
        quantile(added(ours), 0.5),
        quantile(added(peer), 0.5),
        '<= 20, ratio <= 0.5',
        runs,
      )
      note(
        'added latency p95 (ms)',
        quantile(added(ours), 0.95),
        quantile(added(peer), 0.95),
        '<= 60, ratio <= 0.5',
        runs,
      )
      const first = (result: { firstTurnsMs: number[] }) => quantile(result.firstTurnsMs, 0.5) - ENDPOINTING_MS
      note('added latency, first turn p50 (ms)', first(ours), first(peer), '-', ours.firstTurnsMs.length)
      note('unanswered turns', ours.unanswered, peer.unanswered, '0', runs)
    }
    if (wanted('guarded')) {
      const turns = { kind: 'latency', sessions: 5, turns: 12 * scale, latencies: NEAR } as const
      const fixedEndpointingMs = ENDPOINTING_MS
      const [guarded, free] = await Promise.all([
        play<'latency'>('ours', { ...turns, fixedEndpointingMs, guarded: true }),
        play<'latency'>('ours', { ...turns, fixedEndpointingMs }),
      ])
      for (const [name, at] of [['p50', 0.5] as const, ['p95', 0.95] as const]) {
        const [withThem, without] = [quantile(guarded.turnsMs, at), quantile(free.turnsMs, at)]
        note(`added by guardrails ${name} (ms)`, withThem - without, null, '<= 5', guarded.turnsMs.length)
      }
      note('unanswered turns', guarded.unanswered + free.unanswered, null, '0', guarded.turnsMs.length)
    }
    if (wanted('turn')) {
      const [ours, peer] = await both<'latency'>({ kind: 'latency', sessions: 5, turns: 5 * scale, latencies: TYPICAL })
      const [near, peerNear] = await both<'latency'>({
        kind: 'latency',
        sessions: 5,
        turns: 3 * scale,
        latencies: NEAR,
      })
      note(
        'whole turn p50, near providers (ms)',
        quantile(near.turnsMs, 0.5),
        quantile(peerNear.turnsMs, 0.5),
        'ratio <= 0.6',
        near.turnsMs.length,
      )
      note(
        'whole turn p50 (ms)',
        quantile(ours.turnsMs, 0.5),
        quantile(peer.turnsMs, 0.5),
        'ratio <= 0.6',
        ours.turnsMs.length,
      )
      note('whole turn p95 (ms)', quantile(ours.turnsMs, 0.95), quantile(peer.turnsMs, 0.95), '-', ours.turnsMs.length)
      note('unanswered turns', ours.unanswered, peer.unanswered, '0', ours.turnsMs.length + ours.unanswered)
      const [cut, peerCut] = await both<'pauses'>({ kind: 'pauses', rounds: scale, latencies: TYPICAL })
      note('false cut-offs (share)', cut.cutOff / cut.total, peerCut.cutOff / peerCut.total, '<= peer', cut.total)
    }
    if (wanted('barge')) {
      const [ours, peer] = await both<'barge'>({ kind: 'barge', rounds: 3 * scale, latencies: NONE })
      const runs = ours.stoppedMs.length + ours.missed
      note('barge-in p50 (ms)', quantile(ours.stoppedMs, 0.5), quantile(peer.stoppedMs, 0.5), 'ratio <= 0.5', runs)
      note('barge-ins missed', ours.missed, peer.missed, '0', runs)
      const share = ({ gapsMs }: { gapsMs: number[] }) => gapsMs.filter((ms) => ms > 0).length / gapsMs.length
      note('held up by hum, cough or noise (share)', share(ours), share(peer), '<= peer', ours.gapsMs.length)
      note(
        'longest such hold-up (ms)',
        Math.max(...ours.gapsMs),
        Math.max(...peer.gapsMs),
        '<= peer',
        ours.gapsMs.length,
      )
    }
    if (wanted('cpu')) {
      const load = { kind: 'cpu', seconds: 13 * scale, latencies: TYPICAL } as const
      const [ours, peer] = await both<'cpu'>({ ...load, sessions: 20 }, { ...load, sessions: 10 })
      note('CPU a session (share of a core)', ours.coreShare, peer.coreShare, '-', 20)
      note('sessions a core', 1 / ours.coreShare, 1 / peer.coreShare, '>= 60, ratio >= 2', 20)
      note('answers a session-minute', ours.answersAMinute, peer.answersAMinute, '-', 20)
      note(
        'cadence error p99 (ms)',
        quantile(ours.cadenceMs, 0.99),
        quantile(peer.cadenceMs, 0.99),
        '<= 10',
        ours.cadenceMs.length,
      )
    }
    if (wanted('memory')) {
      const calls = 500 * scale
      const ours = await play<'memory'>('ours', { kind: 'memory', calls, warmUp: 40, atOnce: 20, latencies: NONE })
      const slope = (ours.heapBytes[1]! - ours.heapBytes[0]!) / 1024 / (calls - 40)
      note('heap kept a finished call (KiB)', slope, null, '<= 1', calls)
    }
  } finally {
    server.disconnect()
  }
  process.stdout.write('\n')
  for (const figure of figures) {
    const cells = [figure.name.padEnd(38), figure.ours, figure.peer ?? '-', figure.ratio ?? '-', figure.target]
    process.stdout.write(`${cells.map((cell) => String(cell).padEnd(10)).join(' ')}\n`)
  }
}

function live<K extends Scenario['kind']>(
  side: Side,
  scenario: ScenarioOf<K>,
  port: number,
): Promise<Extract<Result, { kind: K }>> {
  const file = join(import.meta.dirname, 'voice/subject.ts')
  // Each as it is started: a voice worker by scripts/main.sh, the peer by its documentation.
  const options = side === 'ours' ? ['--expose-gc', ...VOICE_NODE_OPTIONS] : ['--expose-gc']
  return runSubject(file, [side, JSON.stringify({ ...scenario, port })], options)
}
