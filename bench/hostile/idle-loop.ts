/**
 * A loop that does nothing, in real time as the api's: what it stands is what the machine takes from everybody, the host of a
 * virtual one included. Prints the longest of each second, in ms.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { NODE_PRIORITY, setRealtime } from '../../runtime/process/realtime.ts'

const LOOKS_MS = 10

process.once('disconnect', () => process.exit())
await setRealtime(process.pid, NODE_PRIORITY)
const delay = monitorEventLoopDelay({ resolution: LOOKS_MS })
delay.enable()
setInterval(() => {
  process.send?.(Math.max(0, delay.max / 1e6 - LOOKS_MS))
  delay.reset()
}, 1_000)
