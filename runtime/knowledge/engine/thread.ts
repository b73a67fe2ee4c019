import { serve, taskSetup } from '../../process/offload/task.ts'
import { Blocks } from './blocks.ts'
import { meaningLeg, wordsLeg } from './legs.ts'
import type { SearchLeg, SearchWork } from './search-thread.ts'

/** Entry of the thread that search-thread.ts starts. */
const leg = taskSetup<SearchLeg>()
// The other end sends queries that its leg takes.
const blocks = (leg.by === 'words' ? new Blocks(wordsLeg(), undefined) : new Blocks(meaningLeg(), leg.model)) as Blocks<
  unknown,
  unknown
>

// Searches and drops run at once, so a search finds the blocks that were there when it was sent.
serve((work: SearchWork) => {
  if (work.type === 'add') return blocks.add(work.first, work.rows)
  if (work.type === 'drop') return blocks.drop(work.blocks)
  return blocks.search(work.blocks, work.query, work.limit, work.documents)
})
