import { AsyncLocalStorage } from 'node:async_hooks'
import type { TraceContext } from './trace-context.ts'

/** What the running code sends requests for: a plugin's `host.net.fetch` says so to the other side (`traceparent`). */
export const traceScope = new AsyncLocalStorage<TraceContext>()
