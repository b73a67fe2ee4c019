import { fitsMetadata, type Metadata } from '../../runtime/call/types/metadata.ts'
import { readProspectNumber } from '../../runtime/dialing/prospect-number.ts'
import { ERRORS } from '../../runtime/lib/errors.ts'
import { parseInstant } from '../../runtime/lib/instant.ts'
import { readSipUri } from '../../runtime/plugin-sdk/telephony/destination.ts'
import type { OwnColumn, ProspectHeader } from './prospect-columns.ts'

/** Why a row of a file is not loaded, as the answers say it. */
export const REFUSALS = {
  invalid_number: 'Invalid phone number format',
  invalid_consent: 'consent_at is no ISO 8601 date or time',
  invalid_metadata: ERRORS.metadata_too_large.detail,
  duplicate: 'Prospect already exists',
  do_not_call: 'Phone number is on the do-not-call list',
} as const
export type RowRefusal = keyof typeof REFUSALS
/** Found out only where the rows are loaded. */
export const UNSTORABLE_ROW = 'The database does not take this row'

export interface ReadRow {
  /** E.164, or a SIP URI. */
  phone: string
  consentAt: Date | undefined
  metadata: Metadata
  cell(column: OwnColumn): string
}

/** A row of a file as it says; or why it is no prospect. Numbers without a country code are of `country`. */
export function readProspectRow(
  record: readonly string[],
  { at, metadata: keys }: ProspectHeader,
  country: string,
): ReadRow | Extract<RowRefusal, `invalid_${string}`> {
  const cell = (column: OwnColumn): string => record[at.get(column) ?? -1] ?? ''
  const phone = readProspectNumber(cell('primary_phone'), country) ?? readSipUri(cell('primary_phone'))
  if (phone === undefined) return 'invalid_number'
  const consent = cell('consent_at')
  const consentAt = consent === '' ? undefined : parseInstant(consent)
  if (consent !== '' && consentAt === undefined) return 'invalid_consent'
  const metadata = Object.fromEntries(keys.map(([key, index]) => [key, record[index] ?? '']))
  return fitsMetadata(metadata) ? { phone, consentAt, metadata, cell } : 'invalid_metadata'
}
