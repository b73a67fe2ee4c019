/**
 * What it costs to keep a plugin in a process of its own, and what a hostile one can do to the calls beside it. Part
 * `latency`: 20 sessions over the recogniser and the voice of a plugin, in the role's process and in one of its own, in turns;
 * `cpu`: whole conversations over it; `hostile`: the cadence of 20 conversations over our own plugins while another loops, leaks
 * and floods. Each run is in a process of its own. Part `connections`: what it costs that each connection is asked for.
 */
import { join } from 'node:path'
import { connections } from './plugins/connections.ts'
import type { PluginRun, PluginRunResult } from './plugins/scenario.ts'
import { quantile } from './support/quantile.ts'
import { rounded } from './support/rounded.ts'
import { runSubject } from './support/run-subject.ts'

const SESSIONS = 20
const CONNECTIONS = 500

export async function run(args: readonly string[]): Promise<void> {
  const scale = args.includes('--long') ? 4 : 1
  const parts = args.filter((argument) => !argument.startsWith('-'))
  const wanted = (part: string): boolean => parts.length === 0 || parts.includes(part)
  const note = (name: string, value: number, target: string, more = {}): void => {
    process.stdout.write(`${JSON.stringify({ name, value: rounded(value), target, ...more })}\n`)
  }
  if (wanted('latency')) {
    const waits = { none: { hear: [], speak: [] }, process: { hear: [], speak: [] } } as Record<
      'none' | 'process',
      { hear: number[]; speak: number[] }
    >
    // In turns: what the machine does besides, it does to both.
    for (let round = 0; round < 3 * scale; round++) {
      for (const isolation of ['none', 'process'] as const) {
        const { hearMs, speakMs } = await live({ kind: 'latency', isolation, sessions: SESSIONS, seconds: 6 })
        waits[isolation].hear.push(...hearMs)
        waits[isolation].speak.push(...speakMs)
      }
    }
    for (const what of ['hear', 'speak'] as const) {
      const [own, role] = [waits.process[what], waits.none[what]]
      for (const share of [0.5, 0.99]) {
        const name = `added latency of a plugin in its own process, to ${what}, p${share * 100} (ms)`
        const target = share === 0.99 ? '<= 5' : '-'
        const more = {
          inRole: rounded(quantile(role, share)),
          inProcess: rounded(quantile(own, share)),
          runs: own.length,
        }
        note(name, quantile(own, share) - quantile(role, share), target, more)
      }
    }
  }
  if (wanted('connections')) {
    for (const host of ['127.0.0.1', 'localhost'] as const) {
      const waits = { asked: [] as number[], allowed: [] as number[] }
      let askedOnStream = 0
      for (let round = 0; round < 4 * scale; round++) {
        const asked = await connections(host, true, CONNECTIONS)
        waits.asked.push(...asked.connectMs)
        askedOnStream += asked.askedOnStream
        waits.allowed.push(...(await connections(host, false, CONNECTIONS)).connectMs)
      }
      for (const share of [0.5, 0.99]) {
        const [asked, allowed] = [quantile(waits.asked, share), quantile(waits.allowed, share)]
        const name = `added by asking for a connection to ${host}, p${share * 100} (ms)`
        const more = { asked: rounded(asked), allowed: rounded(allowed), runs: waits.asked.length }
        note(name, asked - allowed, share === 0.99 ? '<= 1' : '-', more)
      }
      note(`questions while messages flow over a connection to ${host}`, askedOnStream, '0')
    }
  }
  if (wanted('cpu')) {
    const shares = { none: [] as number[], process: [] as number[] }
    for (let round = 0; round < 2 * scale; round++) {
      for (const isolation of ['none', 'process'] as const) {
        const { coreShare } = await live({ kind: 'cpu', isolation, sessions: SESSIONS, seconds: 10 })
        shares[isolation].push(coreShare)
      }
    }
    const [role, own] = [Math.min(...shares.none), Math.min(...shares.process)]
    const more = { inRole: rounded(1 / role), inProcess: rounded(1 / own), shares }
    note('sessions a core, of those in the role', role / own, '>= 0.85', more)
  }
  if (wanted('hostile')) {
    const acts = [undefined, 'loop', 'leak', 'flood', 'messages'] as const
    const errors = new Map(acts.map((hostile) => [hostile, { cadenceMs: [] as number[], ended: 0 }]))
    for (let round = 0; round < 2 * scale; round++) {
      for (const [hostile, sums] of errors) {
        const { cadenceMs, ended } = await live({ kind: 'cadence', hostile, sessions: SESSIONS, seconds: 6 })
        sums.cadenceMs.push(...cadenceMs)
        sums.ended += ended
      }
    }
    const base = quantile(errors.get(undefined)?.cadenceMs ?? [], 0.99)
    for (const [hostile, { cadenceMs, ended }] of errors) {
      const value = quantile(cadenceMs, 0.99)
      const runs = cadenceMs.length
      if (hostile === undefined) note('cadence error p99, nobody hostile (ms)', value, '-', { runs })
      else {
        const name = `cadence error p99 more while a plugin does ${hostile} (ms)`
        note(name, value - base, '<= 10', { cadence: rounded(value), processesEnded: ended, runs })
      }
    }
  }
}

function live<K extends PluginRun['kind']>(
  run: Extract<PluginRun, { kind: K }>,
): Promise<Extract<PluginRunResult, { kind: K }>> {
  return runSubject(join(import.meta.dirname, 'plugins/subject.ts'), [JSON.stringify(run)])
}
