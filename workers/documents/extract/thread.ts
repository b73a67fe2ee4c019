import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import type { Block } from '../../../runtime/knowledge/blocks.ts'
import { chunk } from '../../../runtime/knowledge/chunking.ts'
import { MAX_SEGMENT_CHUNKS } from '../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { noteThreadId } from '../../../runtime/process/offload/thread-id.ts'
import { restore } from '../../../runtime/process/priority.ts'
import { extract } from './extract.ts'
import { ExtractionError } from './extraction-error.ts'
import type { ExtractedChunk, ThreadFile, ThreadMessage } from './run.ts'

/** Entry of a thread that run.ts starts: files to chunks, one file after the other; of each a batch at a time, the next one once the last is kept. */
restore(noteThreadId())
const port = parentPort!
// Warnings of the libraries are discarded, and take no memory.
for (const stream of [process.stdout, process.stderr]) stream.write = () => true
// The parent answers each batch; a listener that stays keeps no answer from getting lost between two of them.
const acknowledgements = { pending: 0 }
port.on('message', (message: 'kept' | ThreadFile) => {
  if (message === 'kept') {
    acknowledgements.pending--
    return
  }
  // biome-ignore lint/complexity/noVoid: what it throws ends this thread, which its owner hears of
  void read(message)
})

async function read({ format, bytes, maxChunks }: ThreadFile): Promise<void> {
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
  }
}

async function hand(chunks: ExtractedChunk[]): Promise<void> {
  acknowledgements.pending++
  send({ type: 'batch', chunks })
  while (acknowledgements.pending > 0) await once(port, 'message')
}

function send(message: ThreadMessage): void {
  port.postMessage(message)
}
