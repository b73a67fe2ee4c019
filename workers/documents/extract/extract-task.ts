import type { Block } from '../../../runtime/knowledge/blocks.ts'
import { chunk } from '../../../runtime/knowledge/chunking.ts'
import { MAX_SEGMENT_CHUNKS } from '../../../runtime/knowledge/segment.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { serve, type TaskContext } from '../../../runtime/process/offload/task.ts'
import { extract } from './extract.ts'
import { ExtractionError } from './extraction-error.ts'
import type { ExtractedChunk, ExtractionInput } from './run.ts'

/** Entry of a process that run.ts starts: files to chunks, one file after the other; of each a batch at a time, the next one once the last is kept. */
serve(async ({ format, bytes, maxChunks }: ExtractionInput, { ask }: TaskContext): Promise<number> => {
  try {
    let batch: ExtractedChunk[] = []
    let count = 0
    const blocks: Block[] = []
    // A copy: libraries take the whole buffer for the file.
    for await (const block of await extract(format, Uint8Array.from(bytes))) blocks.push(block)
    for (const text of chunk(blocks)) {
      if (++count > maxChunks) throw new ExtractionError(`The file has more text than ${maxChunks} passages hold`)
      batch.push({ text, terms: termsOf(text) })
      if (batch.length === MAX_SEGMENT_CHUNKS) {
        await ask(batch)
        batch = []
      }
    }
    if (count === 0) throw new ExtractionError('The file has no text')
    if (batch.length > 0) await ask(batch)
    return count
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ExtractionError('The file is too deeply nested or too large to read')
  }
})
