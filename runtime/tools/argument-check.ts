import type { Worker } from 'node:worker_threads'
import { FairQueue } from '../admission/fair-queue.ts'
import { countRefusal } from '../admission/refusals.ts'
import { boundary, inBackground } from '../lib/async/boundary.ts'
import { beyondBounds } from '../lib/json-bounds.ts'
import type { Logger } from '../process/log.ts'
import { endThread, startThread } from '../process/offload/thread.ts'
import { systemIdOf } from '../process/offload/thread-id.ts'
import { processUsage } from '../process/process-usage.ts'
import type { CheckAnswer, CheckRequest } from './argument-check-thread.ts'

/**
 * Checks arguments of tools against the JSON Schema their tenant wrote, in a thread: a pattern that backtracks for hours, or a
 * schema that doubles with each level, costs that thread its deadline and doesn't affect audio. Workspaces take turns.
 */

/** CPU time, not wall-clock: the thread yields to audio, and runs late on a busy machine. */
const WORK_MS = 1_000
/** A caller waits for the tool. */
const DEADLINE_MS = 10_000
const LOOK_MS = 100
const START_TIMEOUT_MS = 30_000
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

interface Check {
  request: CheckRequest
  resolve(fault: string | undefined): void
}

export function openArgumentChecks(log: Logger): ArgumentChecks {
  const waiting = new FairQueue<Check>(MAX_WAITING)
  /** Schemas that were too slow, until when. */
  const resting = new Map<string, number>()
  let thread: Worker | undefined
  let current: Check | undefined
  let deadline: NodeJS.Timeout | undefined
  let ready = false
  let closed = false

  const begin = (): Worker => {
    const worker = startThread(new URL('./argument-check-thread.ts', import.meta.url), {
      name: 'argument-check',
      resourceLimits: { maxOldGenerationSizeMb: 128, stackSizeMb: 2 },
      env: {},
    })
    worker.unref()
    worker.on(
      'message',
      boundary('tool', (answer: CheckAnswer) => {
        if (worker !== thread) return
        if ('ready' in answer) ready = true
        else finish(answer.fault)
        advance()
      }),
    )
    worker.on(
      'error',
      boundary('tool', (err) => {
        if (worker === thread) log.warn({ err }, 'The thread that checks arguments failed')
      }),
    )
    worker.on(
      'exit',
      boundary('tool', () => {
        if (worker === thread) giveUp()
      }),
    )
    deadline = setTimeout(giveUp, START_TIMEOUT_MS)
    return worker
  }

  const finish = (fault: string | undefined): void => {
    current?.resolve(fault)
    current = undefined
  }

  /** Terminates the thread in any state. */
  const giveUp = boundary('tool', (): void => {
    clearTimeout(deadline)
    const stuck = thread
    thread = undefined
    if (current !== undefined) {
      if (resting.size >= MAX_RESTING) resting.clear()
      resting.set(current.request.schema, performance.now() + REST_MS)
      countRefusal('tool_arguments', 'too_slow')
      finish(TOO_SLOW)
    }
    if (stuck !== undefined) inBackground('tool', endThread(stuck))
    const started = ready
    ready = false
    if (closed || waiting.size === 0) return
    if (started) thread = begin()
    // One that can't even start is tried again with the next check.
    else refuseAll()
  })

  /** Once the check has taken so much of the processor, or as much time as there is. */
  const giveUpAfter = (workMs: number, worker: Worker): void => {
    const startMs = performance.now()
    const usedBeforeMs = usedMsOf(worker)
    const look = boundary('tool', (): void => {
      const leftMs = usedBeforeMs + workMs - usedMsOf(worker)
      if (leftMs <= 0 || performance.now() - startMs >= DEADLINE_MS) giveUp()
      else deadline = setTimeout(look, Math.max(leftMs, LOOK_MS))
    })
    deadline = setTimeout(look, workMs)
  }

  const refuseAll = (): void => {
    for (let check = waiting.next(); check !== undefined; check = waiting.next()) check.resolve(BUSY)
  }

  const advance = (): void => {
    clearTimeout(deadline)
    current = waiting.next()
    if (current === undefined || thread === undefined) return
    giveUpAfter(WORK_MS, thread)
    thread.postMessage(current.request)
  }

  const ask = (workspaceId: string, request: CheckRequest): Promise<string | undefined> => {
    const until = resting.get(request.schema)
    if (until !== undefined && performance.now() < until) return Promise.resolve(TOO_SLOW)
    resting.delete(request.schema)
    return new Promise((resolve) => {
      const left = waiting.add({ request, resolve }, { workspaceId })
      if (left !== undefined) {
        countRefusal('tool_arguments', 'line_full')
        left.resolve(BUSY)
      }
      if (closed) refuseAll()
      else if (thread === undefined) thread = begin()
      else if (ready && current === undefined) advance()
    })
  }

  // Ahead of the first tool of a call, whose caller would wait for it.
  thread = begin()
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
      clearTimeout(deadline)
      const last = thread
      thread = undefined
      finish(BUSY)
      refuseAll()
      if (last !== undefined) await endThread(last)
    },
  }
}

/** Of the processor; where the system doesn't tell of threads, what it may have used at most. */
function usedMsOf(worker: Worker): number {
  const id = systemIdOf(worker)
  const used = id === undefined ? undefined : processUsage('self', id)
  return used?.cpuMs ?? performance.now()
}

function textOf(input: unknown): string | undefined {
  try {
    return JSON.stringify(input)
  } catch {
    return undefined
  }
}
