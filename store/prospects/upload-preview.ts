import type { Client } from 'pg'
import { loadCallingRules } from '../../runtime/dialing/rules.ts'
import { shippedPlaces } from '../../runtime/dialing/zones.ts'
import { variableRows } from '../../runtime/lib/csv-columns.ts'
import type { Loader } from '../uploads/bulk-copy.ts'
import {
  doNotCallAmong,
  type PreviewedFile,
  type PreviewRow,
  type PreviewSkip,
  previewCsv,
  SkippedRows,
} from '../uploads/csv-preview.ts'
import { type ColumnMapping, checkMapping, headerOf } from './prospect-columns.ts'
import { type ReadRow, type RowRefusal, readProspectRow } from './prospect-row.ts'

/** What an upload would load, and what it would leave out and why. Reads alone: nothing of the file is kept. */

const DAY_MS = 86_400_000

export interface UploadPreviewParams {
  workspaceId: string
  campaignId: string
  mapping: ColumnMapping
  dedupe: boolean
  /** The uploader confirms that everyone in the file agreed to be called. */
  isAttested: boolean
  campaign: {
    localeName: string
    dupeDays: number
    consentRequired: boolean
    /** Such as `US-TX`. */
    ignoredRegions: readonly string[]
  }
  rulesFile: string | undefined
  nowMs: number
}

/** Loaded, and never called as it is. */
const HELD = ['unknown_zone', 'state', 'consent'] as const

export interface UploadPreview extends PreviewedFile {
  hasPhone: boolean
  loaded: number
  refused: Record<RowRefusal, number>
  held: Record<(typeof HELD)[number], number>
  skipped: PreviewSkip<RowRefusal>[]
}

export const load: Loader<UploadPreviewParams, null, UploadPreview> = async (client, params, source) => {
  const { mapping, campaign, isAttested } = params
  const rules = await loadCallingRules(params.rulesFile)
  const places = shippedPlaces()
  const country = rules.locales.get(campaign.localeName)?.default_country ?? 'US'
  const left = new SkippedRows<RowRefusal>([
    'invalid_number',
    'invalid_consent',
    'invalid_metadata',
    'duplicate',
    'do_not_call',
  ])
  const held: UploadPreview['held'] = { unknown_zone: 0, state: 0, consent: 0 }
  const seen = new Set<string>()
  let loaded = 0
  let hasPhone = false

  const holdOf = ({ phone, consentAt, cell }: ReadRow): (typeof HELD)[number] | undefined => {
    const [state, postalCode, timezone] = [cell('state'), cell('postal_code'), cell('timezone')]
    const { zones, regions } = places.whereaboutsOf({ number: phone, state, postalCode, timezone })
    if (zones.length === 0 || regions.length === 0) return 'unknown_zone'
    if (regions.some((region) => campaign.ignoredRegions.includes(region))) return 'state'
    return campaign.consentRequired && consentAt === undefined && !isAttested ? 'consent' : undefined
  }

  const file = await previewCsv(source, (columns) => {
    checkMapping(columns, mapping)
    const header = headerOf(columns, mapping)
    const at = header.at.get('primary_phone')
    hasPhone = at !== undefined
    if (at === undefined) return undefined
    const check = variableRows(header.variables.map(([name]) => name))
    return async (rows: readonly PreviewRow[]) => {
      for (const { cells } of rows) check(cells)
      const read = rows.map(({ cells }) => readProspectRow(cells, header, country))
      const known = await knownOf(
        client,
        params,
        read.flatMap((row) => (typeof row === 'string' ? [] : [row.phone])),
      )
      for (const [i, row] of read.entries()) {
        const { line, cells } = rows[i]!
        if (typeof row === 'string') {
          left.skip(line, row, cells[at] ?? '')
          continue
        }
        const isTwice = params.dedupe && campaign.dupeDays >= 0 && (known.came.has(row.phone) || seen.has(row.phone))
        if (known.doNotCall.has(row.phone)) left.skip(line, 'do_not_call', row.phone)
        else if (isTwice) left.skip(line, 'duplicate', row.phone)
        else {
          loaded++
          const hold = holdOf(row)
          if (hold !== undefined) held[hold]++
        }
        seen.add(row.phone)
      }
    }
  })
  return async () => ({ ...file, hasPhone, loaded, refused: left.refused, held, skipped: left.skipped })
}

/** Of these numbers those that are on the do-not-call list, and those that came to the campaign within its days. */
async function knownOf(
  client: Client,
  { workspaceId, campaignId, campaign, nowMs }: UploadPreviewParams,
  phones: string[],
) {
  const doNotCall = await doNotCallAmong(client, workspaceId, phones)
  const { rows: came } = await client.query<{ phone: string }>(
    `select distinct phone from prospects where workspace_id = $1 and phone = any($2) and campaign_id = $3
       and created_at >= $4`,
    [workspaceId, phones, campaignId, new Date(nowMs - Math.max(0, campaign.dupeDays) * DAY_MS)],
  )
  return { doNotCall, came: new Set(came.map(({ phone }) => phone)) }
}
