import type { Failure } from '../../../packages/plugin/mod.ts'

const FAULTS: ReadonlySet<unknown> = new Set<Failure['fault']>([
  'authentication',
  'quota',
  'rate_limit',
  'bad_request',
  'transient',
])

/** The plugin's own judgement, where it makes sense. */
export function failureOf(failure: unknown): Failure | undefined {
  if (typeof failure !== 'object' || failure === null) return undefined
  const { fault, status } = failure as Partial<Failure>
  if (!FAULTS.has(fault)) return undefined
  return { fault: fault as Failure['fault'], ...(Number.isInteger(status) ? { status: status as number } : {}) }
}
