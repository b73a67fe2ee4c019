import { nodeTicker, type Ticker } from '../../runtime/media/line/pacer.ts'

/** Less is often over before the system has taken the loop off its core. */
const REST_MS = 0.05
/** Never notified: used only to sleep. */
const never = new Int32Array(new SharedArrayBuffer(4))

/**
 * Timers of a beat that leaves its core for a moment after each tick while it runs in real time: another worker's loop that waits for a
 * core gets to run. By itself the system changes turns between loops of one priority every 100 ms (sched(7), SCHED_RR), and a
 * heap that is marked through in small steps fills that time without ever coming to rest; the other's callers would miss five frames.
 * Node has no sched_yield(2).
 */
export function yieldingTicker(isRealtime: () => boolean): Ticker {
  return {
    ...nodeTicker,
    setTimeout: (callback, delayMs) =>
      nodeTicker.setTimeout(() => {
        callback()
        if (isRealtime()) Atomics.wait(never, 0, 0, REST_MS)
      }, delayMs),
  }
}
