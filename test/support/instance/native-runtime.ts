import { dispose } from '@livekit/rtc-node'
import type { Teardown } from './services.ts'

/** What is to end with the process where test files share one (scripts/run-group.ts). */
const LASTLY = Symbol.for('patchbay.lastly')

/** The native threads of @livekit/rtc-node keep a process from ending. They end with `t`, or with the last of the files that share a process. */
export function endNativeRuntime(t: Teardown): void {
  const lastly = (globalThis as { [LASTLY]?: Set<() => unknown> })[LASTLY]
  if (lastly === undefined) t.teardown(dispose)
  else lastly.add(dispose)
}
