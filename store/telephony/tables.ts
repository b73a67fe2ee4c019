import type { ColumnType, Generated, JSONColumnType, Selectable } from 'kysely'
import type { LineCodecName } from '../../runtime/media/codecs/line-codec.ts'
import type { TrunkSettings } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'
import type { BoundWorkspace, CreatedAt } from '../database/tables.ts'

/** A host of trunks that the operator approved for a workspace. */
export interface TrunkHostsTable {
  id: string
  host: string
  workspace_id: string
  approved_by: string | null
  created_at: CreatedAt
}

/** An address or a range that a trunk of a workspace has. */
interface TrunkAddressesTable {
  trunk_id: string
  workspace_id: string
  address: string
  listed: boolean
  seen_at: CreatedAt
}

interface PhoneNumbersTable {
  phone_number: string
  workspace_id: BoundWorkspace
  agent_id: string | null
  provider: string
  trunk: string | null
  /** Calls it may have at once; null: any number. */
  max_concurrent_calls: Generated<number | null>
  /** Asked before a call is answered. */
  inbound_webhook: ColumnType<string | null, string | null | undefined, string | null>
  /** Sealed. */
  inbound_webhook_secret: ColumnType<string | null, string | null | undefined, string | null>
  /** Null: it is not known; the carrier tells. */
  bought: Generated<boolean | null>
  /** What the carrier had for it before its calls were delivered here. */
  delivery_before: JSONColumnType<Record<string, string> | null, string | null | undefined, string | null>
  created_at: CreatedAt
  updated_at: ColumnType<Date, never, never>
}

/** A number of an account of the operator's carriers, and whose it is. */
export interface CarrierNumbersTable {
  provider: string
  phone_number: string
  workspace_id: string
  assigned_by: string | null
  created_at: CreatedAt
}

export interface TrunksTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  host: string
  transport: 'udp' | 'tcp' | 'tls'
  /** PEM. */
  tls_ca: string | null
  register: boolean
  username: string | null
  /** Sealed. */
  password: string | null
  allowed_addresses: JSONColumnType<string[], string, string>
  codecs: JSONColumnType<LineCodecName[], string, string>
  max_concurrent_calls: number
  max_calls_per_second: number
  countries: JSONColumnType<string[], string, string>
  settings: JSONColumnType<Partial<TrunkSettings>, string | undefined, string>
  /** Sealed. */
  tls_key: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export interface ExtensionsTable {
  id: string
  workspace_id: BoundWorkspace
  name: string
  display_name: string | null
  /** Unique on the installation. */
  username: string
  /** Sealed. */
  password: string
  agent_id: string | null
  created_at: CreatedAt
  updated_at: Generated<Date>
}

export type ExtensionRow = Selectable<ExtensionsTable>

export type PhoneNumberRow = Selectable<PhoneNumbersTable>

export type TrunkRow = Selectable<TrunksTable>

/** Of no single workspace. */
export interface GlobalTelephonyTables {
  trunk_hosts: TrunkHostsTable
  trunk_addresses: TrunkAddressesTable
  carrier_numbers: CarrierNumbersTable
}

/** Of a workspace. */
export interface TenantTelephonyTables {
  phone_numbers: PhoneNumbersTable
  trunks: TrunksTable
  extensions: ExtensionsTable
}
