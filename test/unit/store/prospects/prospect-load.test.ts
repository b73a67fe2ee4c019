import t from 'tap'
import { uuidv7 } from 'uuidv7'
import {
  type ProspectFileDetails,
  type ProspectFileParams,
  type ProspectFileResult,
  ROWS_PER_BATCH,
} from '../../../../store/prospects/prospect-load.ts'
import { blockOf } from '../../../../store/prospects/prospect-uploads.ts'
import { openBulkCopy } from '../../../../store/uploads/bulk-copy.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

/** What COPY, CSV and JSON write in ways of their own, and rows longer than a piece of what is sent. */
const CELLS = [
  'Ada',
  '',
  'a\\b',
  '\\N',
  '\\.',
  'a\tb',
  'a\nb',
  '"quoted", so',
  'Zoë 🎉',
  `${'long \\ '.repeat(8_000)}end`,
]

t.test('a file of several batches is kept row by row as it is, whatever its cells are', async (t) => {
  const { store, databaseUrl, tenant, campaign } = await campaignWorld(t)
  const { id: campaignId, lists } = await campaign()
  const rows = Array.from({ length: 2 * ROWS_PER_BATCH + 1 }, (_, i) => [
    `+1212555${i}`,
    // The long one a few times alone: it is of 56 KiB.
    CELLS[i % 1_500 === 0 ? CELLS.length - 1 : i % (CELLS.length - 1)]!,
  ])
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
  const file = `primary_phone,note\n${rows.map((row) => row.map(quoted).join()).join('\n')}\n`
  const { workspaceId } = tenant
  const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
    ...{ databaseUrl, workspaceId, signal: new AbortController().signal },
    loader: new URL('../../../../store/prospects/prospect-load.ts', import.meta.url),
  })
  t.teardown(() => copy.discard())
  await copy.feed(
    (async function* () {
      // One memory for all pieces: it is overwritten when the next is asked for.
      const bytes = Buffer.from(file)
      const piece = Buffer.alloc(10_007)
      for (let at = 0; at < bytes.length; at += piece.length) yield piece.subarray(0, bytes.copy(piece, 0, at))
    })(),
  )
  const uploadId = uuidv7()
  const of = { campaignId, listId: lists[0]!.id, createdAt: new Date() }
  const kept = await copy.commit({ uploadId, workspaceId, ...of }, { filename: 'f.csv', dedupe: true })
  t.same(kept, { rows: rows.length, batches: 3 })
  const blocks = await Promise.all([0, 1, 2, 3].map((block) => blockOf(store.pool, uploadId, block)))
  const read = blocks.map((block) => (block === undefined ? undefined : (JSON.parse(block) as string[][])))
  t.same(
    read.map((block) => block?.length),
    [ROWS_PER_BATCH, ROWS_PER_BATCH, 1, undefined],
  )
  t.equal(JSON.stringify(read.flatMap((block) => block ?? [])), JSON.stringify(rows))
})
