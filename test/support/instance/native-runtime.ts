import { dispose } from '@livekit/rtc-node'
import t from 'tap'

let isToEnd = false

/**
 * The native threads of @livekit/rtc-node keep a process from ending. They can't start again, so they end after the last of the test
 * files that share the process: `t` is that of the whole run here (scripts/test-files.ts).
 */
export function endNativeRuntime(): void {
  if (isToEnd) return
  isToEnd = true
  t.teardown(dispose)
}
