import { setPriority } from 'node:os'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { NODE_PRIORITY, setRealtime } from '../../runtime/process/realtime.ts'
import { Tenant } from '../hostile/tenant.ts'

/**
 * Callers in a process of their own, as callers are: listens to so many calls, and tells its parent how far apart their frames
 * came and how late its own loop was, which is the machine's doing.
 */

const RESOLUTION_MS = 5
/** Nobody's telephone waits for the processor of the machine that calls it. */
const PRIORITY = -15

export interface CallerFigures {
  gapsMs: number[]
  /** Of this process. */
  loopLateMs: { p99: number; max: number }
}

try {
  setPriority(PRIORITY)
} catch {
  // EACCES: whoever measures is told how late this loop was.
}
// Where loops run in real time, callers beside them do, too; where that is refused, nobody does.
void setRealtime(process.pid, NODE_PRIORITY)
const over = new AbortController()
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
delays.enable()
let listeners: ReturnType<Tenant['listen']>[] = []

process.on('message', (asked: { url: string; calls: number } | 'forget' | 'figures') => {
  if (asked === 'forget') {
    for (const { gapsMs } of listeners) gapsMs.length = 0
    delays.reset()
  } else if (asked === 'figures') {
    const ms = (ns: number): number => Math.max(0, ns / 1e6 - RESOLUTION_MS)
    const loopLateMs = { p99: ms(delays.percentile(99)), max: ms(delays.max) }
    process.send?.({ gapsMs: listeners.flatMap(({ gapsMs }) => gapsMs), loopLateMs } satisfies CallerFigures)
  } else void call(asked)
})
process.on('disconnect', () => {
  over.abort()
  process.exit()
})

async function call({ url, calls }: { url: string; calls: number }): Promise<void> {
  const tenant = await Tenant.signUp(url, 'caller')
  const agentId = await tenant.talkingAgent()
  listeners = Array.from({ length: calls }, () => tenant.listen(agentId, over.signal))
}
