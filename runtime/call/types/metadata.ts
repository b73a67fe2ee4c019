import { Type } from 'typebox'

/** What integrators attach to their calls, rows and prospects: kept and given back as it is, never told to an agent. */

const MAX_METADATA_KEYS = 16
const MAX_METADATA_KEY_CHARS = 64
const MAX_METADATA_VALUE_CHARS = 500
/** Of the id of one's own system. */
export const MAX_EXTERNAL_ID_CHARS = 500

export type Metadata = Readonly<Record<string, string>>

/** Metadata in a request or an answer. */
export function MetadataMap(options: { description?: string; default?: Record<string, string> } = {}) {
  const { description, ...rest } = options
  const bounds = `At most ${MAX_METADATA_KEYS} keys of ${MAX_METADATA_KEY_CHARS} characters, values of ${MAX_METADATA_VALUE_CHARS}.`
  const schema = Type.Record(Type.String(), Type.String({ maxLength: MAX_METADATA_VALUE_CHARS }), {
    maxProperties: MAX_METADATA_KEYS,
    description: `${description ?? 'Your own, given back as it is; no agent sees it.'} ${bounds}`,
    ...rest,
  })
  return Type.Refine(
    schema,
    (value) => Object.keys(value as Metadata).every((key) => isMetadataKey(key)),
    () => `must have keys of 1 to ${MAX_METADATA_KEY_CHARS} characters without square brackets`,
  )
}

const isMetadataKey = (key: string): boolean => key.length <= MAX_METADATA_KEY_CHARS && /^[^[\]]+$/.test(key)

/** The key that a column of a file or a field of a form names, as `metadata[crm_id]`; undefined: it is none of metadata. */
export function metadataKeyOf(name: string): string | undefined {
  const [, key] = /^metadata\[([^[\]]+)\]$/.exec(name.trim()) ?? []
  return key
}

/** Whether metadata keeps its bounds. */
export function fitsMetadata(metadata: Metadata): boolean {
  const entries = Object.entries(metadata)
  return (
    entries.length <= MAX_METADATA_KEYS &&
    entries.every(([key, value]) => isMetadataKey(key) && value.length <= MAX_METADATA_VALUE_CHARS)
  )
}
