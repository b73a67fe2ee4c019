import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { signalWithin } from '../../lib/async/signal-within.ts'
import { PatchbayError } from '../../lib/errors.ts'
import { parseCleanJson } from '../../lib/text.ts'
import { PermissionsSchema } from '../manifest.ts'

const FETCH_TIMEOUT_MS = 15_000
const MAX_BYTES = 4 << 20
const MAX_SIGNATURE_BYTES = 1_000
const BOUNDS = { depth: 16, parts: 400_000 }
/** DER of an Ed25519 public key, up to its 32 bytes (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex')

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const Listed = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9-]+$', maxLength: 64 }),
  version: Type.String({ pattern: '^[0-9A-Za-z.+-]+$', maxLength: 64 }),
  /** The package of npm that it is. */
  package: Type.String({ pattern: '^(@[a-z0-9-]+/)?[a-z0-9][a-z0-9._-]*$', maxLength: 214 }),
  /** Of the package's tarball, as npm writes it. */
  digest: Type.String({ pattern: '^sha512-[A-Za-z0-9+/]{86}==$' }),
  publisher: Text(100),
  description: Text(300),
  kinds: Type.Array(Text(20), { maxItems: 16 }),
  permissions: PermissionsSchema,
  /** The suite that its publisher had it pass: of this version of the contract, on this day. */
  conformance: Type.Optional(
    Type.Object({
      specification: Type.Integer({ minimum: 1 }),
      on: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
    }),
  ),
})
const CatalogSchema = Type.Object({
  title: Text(100),
  /** The first day on which it no longer counts, in UTC. */
  expires: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
  plugins: Type.Array(Listed, { maxItems: 10_000 }),
})
const catalogs = Compile(CatalogSchema)

/** A plugin as a catalog lists it. */
export interface ListedPlugin extends Type.Static<typeof Listed> {
  /** The title of the catalog. */
  catalog: string
  /** `catalog:<name>#<key of the catalog>`: where it comes from, for its updates. */
  source: string
}

/** What the catalogs list, and what is wrong with those that can't be read. */
export interface CatalogsRead {
  plugins: ListedPlugin[]
  faults: string[]
}

/**
 * Reads the catalogs that an operator configured: each is JSON in a file or at an address, and beside it, with `.sig` behind its name, the
 * Ed25519 signature of its bytes in base64. Never throws: one that can't be read is a fault.
 * @param places each `<public key in base64>@<path or https address>`
 */
export async function readCatalogs(places: readonly string[], nowMs: number): Promise<CatalogsRead> {
  const read = await Promise.all(
    places.map(async (place): Promise<CatalogsRead> => {
      try {
        return { plugins: await readCatalog(place, nowMs), faults: [] }
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        return { plugins: [], faults: [`The catalog ${place.slice(place.indexOf('@') + 1)} can't be used: ${why}`] }
      }
    }),
  )
  return { plugins: read.flatMap(({ plugins }) => plugins), faults: read.flatMap(({ faults }) => faults) }
}

async function readCatalog(place: string, nowMs: number): Promise<ListedPlugin[]> {
  const [, key = '', location = ''] = /^([A-Za-z0-9+/]{43}=)@(.+)$/.exec(place) ?? []
  if (key === '') throw new Error('it is written as <public key in base64>@<path or https address>')
  const [bytes, signature] = await Promise.all([
    bytesAt(location, MAX_BYTES),
    bytesAt(`${location}.sig`, MAX_SIGNATURE_BYTES),
  ])
  if (!verify(null, bytes, publicKeyOf(key), Buffer.from(signature.toString('latin1').trim(), 'base64'))) {
    throw new Error('its signature is not one of the key that was configured')
  }
  const catalog: unknown = parseCleanJson(bytes.toString(), BOUNDS)
  if (!catalogs.Check(catalog)) {
    const [error] = catalogs.Errors(catalog)
    throw new Error(`it is no catalog (${error?.instancePath} ${error?.message})`)
  }
  const { title, expires, plugins } = catalog as Type.Static<typeof CatalogSchema>
  if (!(nowMs < Date.parse(expires))) throw new Error(`it counted until ${expires}; its publisher has to sign it again`)
  return plugins.map((plugin) => ({ ...plugin, catalog: title, source: `catalog:${plugin.name}#${key}` }))
}

function publicKeyOf(base64: string): KeyObject {
  return createPublicKey({
    key: Buffer.concat([SPKI_HEAD, Buffer.from(base64, 'base64')]),
    format: 'der',
    type: 'spki',
  })
}

async function bytesAt(location: string, maxBytes: number): Promise<Buffer> {
  if (!location.includes('://')) return within(await readFile(location), maxBytes)
  if (!location.startsWith('https://')) throw new Error('its address has to begin with https://')
  const answer = await fetch(location, { signal: signalWithin(FETCH_TIMEOUT_MS) })
  if (!answer.ok) throw new Error(`its server answered ${answer.status}`)
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of answer.body ?? []) {
    pieces.push(piece)
    length += piece.length
    if (length > maxBytes) break
  }
  return within(Buffer.concat(pieces), maxBytes)
}

function within(bytes: Buffer, maxBytes: number): Buffer {
  if (bytes.length <= maxBytes) return bytes
  throw new Error(`it is larger than ${maxBytes} bytes`)
}

/** Those whose name, publisher, description or kinds have all of the words. */
export function listedWith(plugins: readonly ListedPlugin[], words: readonly string[]): ListedPlugin[] {
  return plugins.filter(({ name, publisher, description, kinds }) => {
    const text = [name, publisher, description, ...kinds].join('\n').toLowerCase()
    return words.every((word) => text.includes(word.toLowerCase()))
  })
}

/**
 * The one plugin that a source such as `catalog:acme` means; with a key behind it, of the catalog of that key alone. Throws `plugin` where
 * there is none, or more than one.
 */
export function findListed({ plugins, faults }: CatalogsRead, source: string): ListedPlugin {
  const [, name = '', key] = /^catalog:([^#]*)(?:#(.*))?$/.exec(source) ?? []
  const found = plugins.filter((plugin) => plugin.name === name && (key === undefined || plugin.source === source))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const others = found.map(({ catalog, source }) => `${source} ("${catalog}")`).join(', ')
  const why = found.length > 1 ? `more than one catalog lists it; name one: ${others}` : 'no catalog lists it'
  const reason = `"catalog:${name}" can't be installed: ${[why, ...faults].join('. ')}`
  throw new PatchbayError('plugin', { params: { reason } })
}
