import { Socket } from 'node:net'
import { isMainThread, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { PatchbayError } from '../../lib/errors.ts'
import { lower, raise } from '../priority.ts'
import { noteThreadId } from './thread-id.ts'
import {
  type FromWorker,
  frameOf,
  messageReader,
  type ToWorker,
  WORKER_DESCRIPTOR,
  type WorkerStart,
} from './worker.ts'

/** The worker's side of offload.ts: what the entry module of a task calls. */

export interface TaskContext {
  /** Asks the role that waits for this run; its time counts for neither. One question at a time. */
  ask<A>(question: unknown): Promise<A>
  /** Has the worker run nothing more: something of this run may still be at work in it. */
  spoil(): void
}

/** Runs what the pool sends, one input after the other as it comes. Once a worker. */
export function serve<I>(work: (input: I, context: TaskContext) => unknown): void {
  const { say, drain } = isMainThread ? openPipe(receive) : openThreadPort(receive)
  const waiting: Extract<ToWorker, { type: 'run' }>[] = []
  const questions = new Map<number, (answer: never) => void>()

  function take(message: ToWorker): void {
    if (message.type === 'run') waiting.push(message)
    else if (message.type === 'answer') {
      questions.get(message.id)?.(message.answer as never)
      questions.delete(message.id)
    } else {
      const at = waiting.findIndex(({ id }) => id === message.id)
      if (at !== -1) waiting.splice(at, 1)
    }
  }

  function receive(message: ToWorker): void {
    take(message)
    for (drain(take); waiting.length > 0; drain(take)) {
      const { id, input } = waiting.shift()!
      // biome-ignore lint/complexity/noVoid: it throws nothing
      void run(id, input as I)
    }
  }

  async function run(id: number, input: I): Promise<void> {
    let isSpoilt = false
    const context: TaskContext = {
      ask: (question) => {
        say({ type: 'ask', id, question })
        return new Promise((resolve) => questions.set(id, resolve))
      },
      spoil: () => {
        isSpoilt = true
      },
    }
    try {
      const result = work(input, context)
      say({ type: 'done', id, result: result instanceof Promise ? await result : result, isSpoilt })
    } catch (error) {
      const { name, message, stack } = error instanceof Error ? error : new Error(String(error))
      const code = error instanceof PatchbayError ? error.code : undefined
      const { message: why = message, stack: where = stack } =
        (code && (error as Error).cause) instanceof Error ? ((error as Error).cause as Error) : {}
      say({ type: 'failed', id, fault: { name, message: why, stack: where, code }, isSpoilt })
    }
  }

  say({ type: 'ready' })
}

/** What the task was set up with. */
export const taskSetup = <S>(): S => (workerData as WorkerStart).setup as S

interface Channel {
  say(message: FromWorker): void
  /** Takes what has come meanwhile, so that a run that was given up is not begun. */
  drain(take: (message: ToWorker) => void): void
}

function openThreadPort(receive: (message: ToWorker) => void): Channel {
  const { priority } = workerData as WorkerStart
  const id = noteThreadId()
  if (priority === 'loop') raise(id, 0)
  else lower(id, priority)
  const port = parentPort!
  port.on('message', receive)
  return {
    say: (message) => port.postMessage(message),
    drain(take) {
      for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
        take(next.message as ToWorker)
      }
    },
  }
}

function openPipe(receive: (message: ToWorker) => void): Channel {
  const socket = new Socket({ fd: WORKER_DESCRIPTOR, readable: true, writable: true })
  // Its role is gone, and nobody waits for it.
  socket.on('error', () => process.exit()).on('end', () => process.exit())
  socket.on('data', messageReader(receive))
  return {
    say(message) {
      socket.write(frameOf(message))
    },
    drain: () => {},
  }
}
