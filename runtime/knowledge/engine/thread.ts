import { parentPort, workerData } from 'node:worker_threads'
import { noteThreadId } from '../../process/offload/thread-id.ts'
import { raise } from '../../process/priority.ts'
import { Blocks } from './blocks.ts'
import { meaningLeg, wordsLeg } from './legs.ts'
import type { FromThread, ThreadData, ToThread } from './search-thread.ts'

/** Entry of the thread that search-thread.ts starts. */
// As its loop: callers wait for it, and it holds locks of the process's memory.
raise(noteThreadId(), 0)
const port = parentPort!
const { leg, ignored } = workerData as ThreadData
// The other end sends queries that its leg takes.
const blocks = (leg.by === 'words' ? new Blocks(wordsLeg(), undefined) : new Blocks(meaningLeg(), leg.model)) as Blocks<
  unknown,
  unknown
>

// Searches and drops run at once, so a search finds the blocks that were there when it was sent.
port.on('message', async (message: ToThread) => {
  if (message.type === 'drop') {
    blocks.drop(message.blocks)
    return
  }
  const { call } = message
  try {
    const result = message.type === 'add' ? await blocks.add(message.first, message.rows) : search(message)
    tell({ call, result })
  } catch (error) {
    tell({ call, error: error instanceof Error ? error : new Error(String(error)) })
  }
})

function search({ slot, blocks: numbers, query, limit }: Extract<ToThread, { type: 'search' }>) {
  return Atomics.load(ignored, slot) === 1 ? [] : blocks.search(numbers, query, limit)
}

function tell(message: FromThread): void {
  port.postMessage(message)
}
