import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { openBulkCopy } from '../../store/bulk-copy.ts'

t.test('an upload that finds no database is told to come again', async (t) => {
  const copy = await openBulkCopy({
    databaseUrl: 'postgres://nobody@127.0.0.1:1/none',
    loader: new URL('../../store/batch-load.ts', import.meta.url),
    workspaceId: uuidv7(),
    signal: new AbortController().signal,
  })
  t.teardown(() => copy.discard())
  await copy.feed(
    (async function* () {
      yield Buffer.from('phone_number\n+14155550100\n')
    })(),
  )
  await t.rejects(copy.commit({}, {}), { code: 'unavailable' })
})
