import { countRefusal } from '../admission/refusals.ts'
import { PatchbayError } from '../lib/errors.ts'
import { beyondBounds } from '../lib/json-bounds.ts'
import type { Logger } from '../process/log.ts'
import { OffloadError, type OffloadTask, offload } from '../process/offload/offload.ts'
import type { CheckRequest } from './argument-check-thread.ts'

/**
 * Checks arguments of tools against the JSON Schema their tenant wrote, in a thread: a pattern that backtracks for hours, or a
 * schema that doubles with each level, costs that thread its deadline and doesn't affect audio. Workspaces take turns.
 */

/** CPU time, not wall-clock: the thread yields to audio, and runs late on a busy machine. */
const PROCESSOR_MS = 1_000
/** A caller waits for the tool. */
const DEADLINE_MS = 10_000
const MEMORY_MB = 128
const MAX_WAITING = 500
const BOUNDS = { depth: 64, parts: Number.POSITIVE_INFINITY }
const MAX_INPUT_CHARACTERS = 256 * 1024
/** A schema that ran into the deadline is not tried again so soon. */
const REST_MS = 60_000
const MAX_RESTING = 1_000

export const TOO_SLOW = 'they could not be checked in time; a "pattern" of the tool\'s parameters may be the reason'
export const BUSY = 'too many are being checked; try again'

export interface ArgumentChecks {
  /** What is wrong with the arguments, in words a model can mend it by; undefined: nothing. */
  faultOfInput(workspaceId: string, schema: unknown, input: unknown): Promise<string | undefined>
  /** Why it is no JSON Schema arguments can be checked against. */
  faultOfSchema(workspaceId: string, schema: unknown): Promise<string | undefined>
  close(): Promise<void>
}

export function openArgumentChecks(log: Logger): ArgumentChecks {
  const task: OffloadTask<CheckRequest, string | undefined> = {
    name: 'argument-check',
    kind: 'tool_arguments',
    entry: new URL('./argument-check-thread.ts', import.meta.url),
    priority: 'later',
    workers: 1,
    maxWaiting: MAX_WAITING,
    stackMb: 2,
  }
  /** Schemas that were too slow, until when. */
  const resting = new Map<string, number>()
  let closed = false

  const isResting = (schema: string): boolean => {
    const until = resting.get(schema)
    if (until !== undefined && performance.now() < until) return true
    resting.delete(schema)
    return false
  }

  const ask = async (workspaceId: string, request: CheckRequest): Promise<string | undefined> => {
    if (closed) return BUSY
    if (isResting(request.schema)) return TOO_SLOW
    try {
      const limits = { deadlineMs: DEADLINE_MS, processorMs: PROCESSOR_MS, memoryMb: MEMORY_MB }
      return await offload.run(task, request, { workspaceId, ...limits })
    } catch (err) {
      if (closed || err instanceof PatchbayError) return BUSY
      if (!(err instanceof OffloadError)) throw err
      if (err.reason === 'absent') return BUSY
      if (err.reason !== 'timeout') log.warn({ err }, 'The thread that checks arguments failed')
      if (resting.size >= MAX_RESTING) resting.clear()
      resting.set(request.schema, performance.now() + REST_MS)
      countRefusal('tool_arguments', 'too_slow')
      return TOO_SLOW
    }
  }

  // Ahead of the first tool of a call, whose caller would wait for it.
  offload.prepare(task, MEMORY_MB)
  return {
    async faultOfInput(workspaceId, schema, input) {
      const text = textOf(input)
      if (text === undefined || text.length > MAX_INPUT_CHARACTERS || beyondBounds(text, BOUNDS) !== undefined) {
        return 'they are too large or nested too deeply'
      }
      return ask(workspaceId, { schema: JSON.stringify(schema), input: text })
    },
    faultOfSchema(workspaceId, schema) {
      return ask(workspaceId, { schema: JSON.stringify(schema), input: undefined })
    },
    async close() {
      closed = true
      await offload.close(task)
    },
  }
}

function textOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}
