import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { uuidv7 } from 'uuidv7'
import { campaignById } from '../../store/campaigns/campaigns.ts'
import type {
  ProspectFileDetails,
  ProspectFileParams,
  ProspectFileResult,
} from '../../store/prospects/prospect-load.ts'
import { openBulkCopy } from '../../store/uploads/bulk-copy.ts'
import { loadUpload } from '../../workers/dialer/load-upload.ts'
import { campaignStatus } from '../../workers/dialer/status.ts'
import { quantile } from '../support/quantile.ts'
import { report, timed } from './figures.ts'
import { makeCampaign, makeWorkspace, numberAt, type World } from './world.ts'

const LOADER = new URL('../../store/prospects/prospect-load.ts', import.meta.url)
const MIB = 2 ** 20
const PIECE_BYTES = 64 * 1024
const STATUS_MS = 100
/** As workers/dialer/start.ts has it. */
const BATCHES_A_TURN = 50

/** A file taken and kept, beside `psql \copy` of the same file into a plain table of its columns; then loaded as prospects. */
export async function measureUpload(world: World, folder: string, rows: number): Promise<boolean> {
  const { store, redis, calling, databaseUrl } = world
  const { tenant, agentId } = await makeWorkspace(world, '+12125550100')
  const campaign = await makeCampaign(tenant, { name: 'Bench', agent_id: agentId, paused: true })
  const file = join(folder, 'prospects.csv')
  await writeProspects(file, rows)
  await store.pool.query(
    'create table plain (primary_phone text, first_name text, last_name text, state text, plan text)',
  )
  const psqlMs = await timed(() =>
    promisify(execFile)('psql', [databaseUrl, '-qc', `\\copy plain from '${file}' csv header`]),
  )
  await store.pool.query('create table shaped (like prospects including defaults including indexes)')
  const into = 'shaped (phone, first_name, last_name, state, external_id)'
  await store.pool.query(
    `alter table shaped alter id set default gen_random_uuid(), alter workspace_id set default '${tenant.workspaceId}',
     alter campaign_id set default '${campaign.id}', alter list_id set default '${campaign.lists[0]?.id}',
     alter window_group set default 1, alter created_at set default now()`,
  )
  const shapedMs = await timed(() =>
    promisify(execFile)('psql', [
      databaseUrl,
      '-qc',
      `\\copy ${into} from '${file}' with (format csv, header, force_not_null (state))`,
    ]),
  )
  await store.pool.query('drop table shaped')
  let over = false
  const statusMs: number[] = []
  const current = await campaignById(tenant, campaign.id)
  const look = async () => current && (await campaignStatus({ store, redis, calling }, tenant, current, new Date()))
  // The first of a process opens its connection and compiles what the others run.
  await look()
  const looks = (async () => {
    while (!over) {
      statusMs.push(await timed(look))
      await sleep(STATUS_MS)
    }
  })()
  const memory = watchMemory()
  const uploadId = uuidv7()
  const { workspaceId } = tenant
  const signal = AbortSignal.timeout(3_600_000)
  const keep = async () => {
    const copy = await openBulkCopy<ProspectFileParams, ProspectFileDetails, ProspectFileResult>({
      ...{ databaseUrl, workspaceId, loader: LOADER, signal },
    })
    try {
      await copy.feed(piecesOf(file))
      const of = { campaignId: campaign.id, listId: campaign.lists[0]?.id ?? '', createdAt: new Date() }
      await copy.commit({ uploadId, workspaceId, ...of }, { filename: 'prospects.csv', dedupe: true })
    } finally {
      await copy.discard()
    }
  }
  const load = async () => {
    const options = { databaseUrl, uploadId, workspaceId, rules: calling.rules, maxBatches: BATCHES_A_TURN }
    while ((await loadUpload(options, signal)) === 'more');
  }
  let [keptMs, loadedMs, grownMiB] = [0, 0, 0]
  try {
    keptMs = await timed(keep)
    loadedMs = await timed(load)
  } finally {
    grownMiB = memory()
    over = true
    await looks
  }
  const { rows: loaded } = await store.pool.query('select loaded from prospect_uploads')
  if (loaded[0]?.loaded !== rows) throw new Error(`${loaded[0]?.loaded} of ${rows} rows were loaded`)
  const met = [
    report({
      name: `upload of ${rows} rows, until it is answered (rows/s)`,
      ours: (rows / keptMs) * 1_000,
      peer: (rows / psqlMs) * 1_000,
      target: '>= 0.5',
      runs: 1,
    }),
    // Each row is looked up among numbers that came before and those not to be called, and told apart by zone and state.
    report({
      name: 'its rows, until all are prospects, beside a copy into the same columns and indexes (rows/s)',
      ours: (rows / loadedMs) * 1_000,
      peer: (rows / shapedMs) * 1_000,
      target: '>= 0.5',
      runs: 1,
    }),
    report({ name: 'upload, memory growth (MiB)', ours: grownMiB, target: '<= 64', runs: 1 }),
    report({
      name: 'status p99 during the upload (ms)',
      ours: quantile(statusMs, 0.99),
      target: '<= 20',
      runs: statusMs.length,
    }),
  ]
  return met.every((one) => one)
}

async function writeProspects(file: string, rows: number): Promise<void> {
  const out = createWriteStream(file)
  let text = 'primary_phone,first_name,last_name,state,plan\n'
  for (let i = 0; i < rows; i++) {
    text += `${numberAt(i)},Name${i % 977},Last${i % 1013},,plan ${i % 7}\n`
    if (text.length > MIB) {
      if (!out.write(text)) await once(out, 'drain')
      text = ''
    }
  }
  out.end(text)
  await once(out, 'finish')
}

/** As they come from a network: what a stream of a file leaves behind is not the product's. */
async function* piecesOf(file: string): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(PIECE_BYTES)
  const handle = await open(file)
  try {
    for (;;) {
      const { bytesRead } = await handle.read(piece)
      if (bytesRead === 0) return
      yield piece.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

/** The returned function says by how many MiB the process has grown at most. */
function watchMemory(): () => number {
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 20)
  return () => {
    clearInterval(timer)
    return (peak - before) / MIB
  }
}
