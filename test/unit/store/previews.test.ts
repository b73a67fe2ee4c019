import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { openBulkCopy } from '../../../store/uploads/bulk-copy.ts'
import { testDatabase } from '../../support/instance/services.ts'

/** More than a thread that reads an upload may keep. */
const FILE_BYTES = 200_000_000
const NOTE_CHARS = 60_000
const ROWS = Math.ceil(FILE_BYTES / NOTE_CHARS)
const NOTE = 'x'.repeat(NOTE_CHARS)

/** Numbers too long to be copied out of their piece of the file by themselves. */
async function* wideFile() {
  yield Buffer.from('phone_number,note\n')
  for (let i = 0; i < ROWS; i++) yield Buffer.from(`+4915${100_000_000 + i},${NOTE}\n`)
}

t.test('a preview reads a file that is wider than its memory, and keeps of its rows their numbers alone', async (t) => {
  const databaseUrl = await testDatabase(t)
  const workspaceId = uuidv7()
  const preview = async (loader: string, params: object): Promise<object> => {
    const options = { databaseUrl, workspaceId, loader: new URL(loader, import.meta.url) }
    const copy = await openBulkCopy<object, null, object>({ ...options, signal: new AbortController().signal })
    try {
      await copy.feed(wideFile())
      return await copy.commit({ workspaceId, ...params }, null)
    } finally {
      await copy.discard()
    }
  }
  t.match(await preview('../../../store/batches/batch-preview.ts', { phoneColumn: undefined }), {
    total: ROWS,
    judged: ROWS,
    called: ROWS,
    duplicates: 0,
  })
  const campaign = { localeName: 'GLOBAL', dupeDays: 30, consentRequired: false, ignoredRegions: [] }
  const params = { campaignId: uuidv7(), mapping: {}, dedupe: true, isAttested: false, campaign, nowMs: 0 }
  t.match(await preview('../../../store/prospects/upload-preview.ts', params), {
    total: ROWS,
    judged: ROWS,
    loaded: ROWS,
    refused: { duplicate: 0 },
  })
})
