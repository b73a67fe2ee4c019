import type { CallingRules } from '../../runtime/dialing/rules.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { endThread, startThread } from '../../runtime/process/offload/thread.ts'
import type { FromLoadThread, LoadThread } from './load-thread.ts'

/** A thread that loads no batch this long is stuck; its transaction is rolled back with its connection. */
const STALL_MS = 120_000

/**
 * Loads some batches of an upload in a thread of its own. Resolves with whether more are left; rejects with what went wrong,
 * the batches before it being loaded for good.
 */
export async function loadUpload(
  { rules, ...options }: Omit<LoadThread, 'countries'> & { rules: CallingRules },
  signal: AbortSignal,
  /** What the thread runs. */
  entry = new URL('./load-thread.ts', import.meta.url),
): Promise<'more' | 'done' | 'gone'> {
  signal.throwIfAborted()
  // Not the rules themselves: what checks their file would take more memory in each thread than the rows.
  const countries = new Map([...rules.locales].map(([name, { default_country }]) => [name, default_country]))
  const workerData: LoadThread = { ...options, countries }
  const thread = startThread(entry, {
    workerData,
    name: 'prospect-load',
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 128 },
  })
  const { promise, resolve, reject } = Promise.withResolvers<'more' | 'done' | 'gone'>()
  let timer: NodeJS.Timeout | undefined
  const expectMore = () => {
    clearTimeout(timer)
    timer = setTimeout(() => reject(new Error(`Loading stood still for ${STALL_MS} ms`)), STALL_MS)
  }
  expectMore()
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  thread.on(
    'message',
    boundary('queue', (message: FromLoadThread) => {
      if (message.type === 'batch') return expectMore()
      if (message.type === 'end') return resolve(message.state)
      const error = new Error(message.message)
      if (message.stack !== undefined) error.stack = message.stack
      reject(error)
    }),
  )
  thread.on('error', reject)
  thread.on('exit', () => reject(new Error('The loading thread ended early')))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    await endThread(thread)
  }
}
