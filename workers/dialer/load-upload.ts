import type { CallingRules } from '../../runtime/dialing/rules.ts'
import { OffloadError, type OffloadTask, offload } from '../../runtime/process/offload/offload.ts'
import type { LoadState, LoadThreadWork } from './load-thread.ts'

/** A thread that loads no batch this long is stuck; its transaction is rolled back with its connection. */
const STALL_MS = 120_000
const MEMORY_MB = 128

const LOADING: OffloadTask<LoadThreadWork, LoadState> = {
  name: 'prospect-load',
  kind: 'prospect_load',
  entry: new URL('./load-thread.ts', import.meta.url),
  priority: 'later',
  workers: 2,
  maxWaiting: 100,
  youngMb: 8,
  readsEnvironment: true,
}

/**
 * Loads some batches of an upload in a thread. Resolves with whether more are left; rejects with what went wrong, the batches before it
 * being loaded for good.
 */
export async function loadUpload(
  { rules, workspaceId, ...options }: Omit<LoadThreadWork, 'countries'> & { rules: CallingRules; workspaceId: string },
  signal: AbortSignal,
): Promise<LoadState> {
  // Not the rules themselves: what checks their file would take more memory in each thread than the rows.
  const countries = new Map([...rules.locales].map(([name, { default_country }]) => [name, default_country]))
  const limits = { stallMs: STALL_MS, memoryMb: MEMORY_MB }
  try {
    return await offload.run(LOADING, { ...options, countries }, { workspaceId, signal, ...limits })
  } catch (error) {
    throw error instanceof OffloadError ? (error.thrown ?? error) : error
  }
}
