import { startThread } from '../../runtime/thread.ts'
import type { FromLoadThread, LoadThread } from './load-thread.ts'

/** A thread that says nothing this long is stuck; its transaction is rolled back with its connection. */
const STALL_MS = 120_000

/**
 * Loads some batches of an upload in a thread of its own. Resolves with whether more are left; rejects with what went wrong,
 * the batches before it being loaded for good.
 */
export async function loadUpload(
  options: Omit<LoadThread, 'rulesFile'> & { rulesFile?: string | undefined },
  signal: AbortSignal,
): Promise<'more' | 'done' | 'gone'> {
  signal.throwIfAborted()
  const workerData: LoadThread = { ...options, rulesFile: options.rulesFile }
  const thread = startThread(new URL('./load-thread.ts', import.meta.url), {
    workerData,
    name: 'prospect-load',
    resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 },
  })
  const { promise, resolve, reject } = Promise.withResolvers<'more' | 'done' | 'gone'>()
  const timer = setTimeout(() => reject(new Error(`Loading stood still for ${STALL_MS} ms`)), STALL_MS)
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort, { once: true })
  thread.on('message', (message: FromLoadThread) => {
    if (message.type === 'end') return resolve(message.state)
    const error = new Error(message.message)
    if (message.stack !== undefined) error.stack = message.stack
    reject(error)
  })
  thread.on('error', reject)
  thread.on('exit', () => reject(new Error('The loading thread ended early')))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    await thread.terminate()
  }
}
