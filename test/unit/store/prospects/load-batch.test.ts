import pg from 'pg'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'
import { loadBatch } from '../../../../store/prospects/load-batch.ts'
import type {
  ProspectFileDetails,
  ProspectFileParams,
  ProspectFileResult,
} from '../../../../store/prospects/prospect-load.ts'
import { uploadById } from '../../../../store/prospects/prospect-uploads.ts'
import { openBulkCopy } from '../../../../store/uploads/bulk-copy.ts'
import { campaignWorld } from '../../../support/world/campaign-world.ts'

t.test('a row that the database refuses is told among the rejects, and the others are loaded', async (t) => {
  const { store, databaseUrl, tenant, campaign } = await campaignWorld(t)
  const { id: campaignId, lists } = await campaign()
  await store.pool.query(`alter table prospects add check (first_name <> 'poison')`)
  const poison = [0, 41, 42, 199]
  const rows = Array.from(
    { length: 200 },
    (_, i) => `+1212555${1_000 + i},${poison.includes(i) ? 'poison' : `Ada ${i}`}\0`,
  )
  const { workspaceId } = tenant
  const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
    ...{ databaseUrl, workspaceId, signal: new AbortController().signal },
    loader: new URL('../../../../store/prospects/prospect-load.ts', import.meta.url),
  })
  t.teardown(() => copy.discard())
  await copy.feed(
    (async function* () {
      yield Buffer.from(['primary_phone,first_name', ...rows].join('\n'))
    })(),
  )
  const uploadId = uuidv7()
  const of = { campaignId, listId: lists[0]!.id, createdAt: new Date() }
  await copy.commit({ uploadId, workspaceId, ...of }, { filename: 'f.csv', dedupe: true })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  t.teardown(() => client.end())
  const known = { countries: new Map(), places: shippedPlaces(), groups: new Map<string, number>() }
  t.equal(await loadBatch(client, uploadId, known, new Date()), 'done')
  t.match(await uploadById(tenant, uploadId), { status: 'completed', loaded: 196, invalid: 4, duplicates: 0 })
  const { rows: rejects } = await store.pool.query('select line, reason from prospect_rejects order by line')
  t.same(
    rejects,
    poison.map((i) => ({ line: i + 2, reason: 'The database does not take this row' })),
  )
  const { rows: names } = await store.pool.query<{ first_name: string }>('select first_name from prospects')
  t.equal(new Set(names.map(({ first_name }) => first_name)).size, 196)
})
