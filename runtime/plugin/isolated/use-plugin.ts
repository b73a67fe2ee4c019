import type { Options } from '../../../packages/plugin/mod.ts'
import { boundary } from '../../lib/async/boundary.ts'
import type { FaultOf } from './fault.ts'
import type { Use } from './messages.ts'
import type { PluginRunner } from './plugin-runner.ts'

/** Events or sound that wait to be taken: a sentence of this many pieces has no end. */
const MAX_WAITING = 10_000

/**
 * One use of a plugin in its process, as the contract has it: what it gives, as it comes, until it is done or the signal aborts.
 * @param audio what the use takes, if any
 */
export async function* usePlugin<T>(
  process: PluginRunner,
  use: Use,
  options: Options,
  faultOf: FaultOf,
  signal: AbortSignal,
  audio?: AsyncIterable<Int16Array>,
): AsyncGenerator<T> {
  const waiting: T[] = []
  let isOver = false
  let failure: unknown
  let wake: () => void = () => undefined
  const end = boundary('plugin', (error?: unknown): void => {
    failure ??= error
    isOver = true
    wake()
  })
  const abandon = boundary('plugin', () => end())
  try {
    await process.ready()
    if (signal.aborted) return
    const take = (given: unknown): void => {
      if (waiting.length < MAX_WAITING) waiting.push(given as T)
      else end(new Error('it gave more than anybody takes'))
      wake()
    }
    const session = process.open(use, options, { event: take, audio: take, done: () => end(), failed: end })
    signal.addEventListener('abort', abandon, { once: true })
    try {
      if (audio !== undefined) feed(audio, session.audio, session.end).catch(end)
      for (;;) {
        const next = waiting.shift()
        if (signal.aborted) return
        if (next !== undefined) yield next
        else if (isOver) break
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
      if (failure !== undefined) throw failure
    } finally {
      signal.removeEventListener('abort', abandon)
      session.cancel()
    }
  } catch (error) {
    if (!signal.aborted) throw faultOf(error)
  }
}

async function feed(
  audio: AsyncIterable<Int16Array>,
  give: (samples: Int16Array) => void,
  end: () => void,
): Promise<void> {
  for await (const samples of audio) give(samples)
  end()
}
