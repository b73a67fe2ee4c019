import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import type { Block } from '../../../runtime/knowledge/blocks.ts'
import { chunk } from '../../../runtime/knowledge/chunking.ts'
import { MAX_SEGMENT_CHUNKS } from '../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { beginAsEverybody } from '../../../runtime/low-priority.ts'
import { extract } from './extract.ts'
import { ExtractionError } from './failure.ts'
import type { ExtractedChunk, ThreadData, ThreadMessage } from './run.ts'

/** Entry of the thread that run.ts starts: one file to chunks, a batch at a time, the next one once the last is kept. */
const port = parentPort!
beginAsEverybody()
const { format, bytes, maxChunks } = workerData as ThreadData
// The parent answers each batch; a listener that stays keeps no answer from getting lost between two of them.
const acknowledgements = { pending: 0 }
port.on('message', () => {
  acknowledgements.pending--
})

try {
  let batch: ExtractedChunk[] = []
  let count = 0
  const blocks: Block[] = []
  for await (const block of await extract(format, bytes)) blocks.push(block)
  for (const text of chunk(blocks)) {
    if (++count > maxChunks) throw new ExtractionError(`The file has more text than ${maxChunks} passages hold`)
    batch.push({ text, terms: termsOf(text) })
    if (batch.length === MAX_SEGMENT_CHUNKS) {
      await hand(batch)
      batch = []
    }
  }
  if (count === 0) throw new ExtractionError('The file has no text')
  if (batch.length > 0) await hand(batch)
  send({ type: 'done', chunks: count })
} catch (error) {
  if (error instanceof ExtractionError) send({ type: 'failed', reason: error.message })
  else if (error instanceof RangeError)
    send({ type: 'failed', reason: 'The file is too deeply nested or too large to read' })
  else throw error
} finally {
  port.close()
}

async function hand(chunks: ExtractedChunk[]): Promise<void> {
  acknowledgements.pending++
  send({ type: 'batch', chunks })
  while (acknowledgements.pending > 0) await once(port, 'message')
}

function send(message: ThreadMessage): void {
  port.postMessage(message)
}
