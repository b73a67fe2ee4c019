import { createHash, timingSafeEqual } from 'node:crypto'
import { isToken, quote, splitOutside, unquote } from './grammar.ts'
import { SipParseError } from './message.ts'

/** Digest authentication (RFC 7616, in SIP RFC 3261 section 22 and RFC 8760): both sides of a challenge. */

const HASHES = { MD5: 'md5', 'SHA-256': 'sha256', 'SHA-512-256': 'sha512-256' } as const
export type DigestAlgorithm = keyof typeof HASHES
/** Most wanted first. */
const PREFERENCE: readonly DigestAlgorithm[] = ['SHA-512-256', 'SHA-256', 'MD5']

export interface Credentials {
  username: string
  password: string
}

export interface Challenge {
  realm: string
  nonce: string
  algorithm: DigestAlgorithm
  /** `MD5-sess` and its like: the nonces are part of the key. */
  session: boolean
  opaque: string | undefined
  /** What `qop` offers; empty: the old digest of RFC 2069. */
  qop: readonly string[]
  stale: boolean
}

/** What an Authorization header says. */
interface DigestAnswer extends Omit<Challenge, 'qop' | 'stale'> {
  username: string
  uri: string
  response: string
  qop: string | undefined
  cnonce: string | undefined
  /** Eight hexadecimal digits. */
  nc: string | undefined
}

/** The fields of a `Digest …` header value; undefined for another scheme. Throws SipParseError on a malformed one. */
function parseFields(value: string): Map<string, string> | undefined {
  const match = /^Digest\s+(.*)$/is.exec(value)
  if (match === null) return undefined
  const fields = new Map<string, string>()
  for (const part of splitOutside(match[1] ?? '', ',')) {
    const equals = part.indexOf('=')
    const name = part.slice(0, Math.max(equals, 0)).trim().toLowerCase()
    const text = part.slice(equals + 1).trim()
    if (!isToken(name) || fields.has(name)) throw new SipParseError('The digest is malformed')
    fields.set(name, text.startsWith('"') ? unquote(text) : text)
  }
  return fields
}

function common(fields: Map<string, string>) {
  const realm = fields.get('realm')
  const nonce = fields.get('nonce')
  const named = (fields.get('algorithm') ?? 'MD5').toUpperCase()
  const session = named.endsWith('-SESS')
  const algorithm = session ? named.slice(0, -5) : named
  if (realm === undefined || nonce === undefined || !(algorithm in HASHES)) return undefined
  return { realm, nonce, session, algorithm: algorithm as DigestAlgorithm, opaque: fields.get('opaque') }
}

/** The challenge to answer of those a response brings: the strongest whose algorithm and qop are known. */
export function chooseChallenge(values: readonly string[]): Challenge | undefined {
  const known = values.flatMap((value) => {
    const fields = parseFields(value)
    const shared = fields === undefined ? undefined : common(fields)
    if (fields === undefined || shared === undefined) return []
    const qop = (fields.get('qop') ?? '').split(',').map((one) => one.trim().toLowerCase())
    const offered = qop.filter((one) => one !== '')
    if (offered.length > 0 && !offered.includes('auth') && !offered.includes('auth-int')) return []
    return [{ ...shared, qop: offered, stale: fields.get('stale')?.toLowerCase() === 'true' }]
  })
  return known.sort((a, b) => PREFERENCE.indexOf(a.algorithm) - PREFERENCE.indexOf(b.algorithm))[0]
}

/** Reads an Authorization or Proxy-Authorization value; undefined when it is no digest we know. */
export function parseDigestAnswer(value: string): DigestAnswer | undefined {
  const fields = parseFields(value)
  const shared = fields === undefined ? undefined : common(fields)
  const username = fields?.get('username')
  const uri = fields?.get('uri')
  const response = fields?.get('response')
  if (fields === undefined || shared === undefined || username === undefined || uri === undefined) return undefined
  if (response === undefined) return undefined
  const qop = fields.get('qop')?.toLowerCase()
  return { ...shared, username, uri, response, qop, cnonce: fields.get('cnonce'), nc: fields.get('nc') }
}

/** The response of RFC 7616, section 3.4.1, in lowercase hexadecimal. */
export function digestResponse(
  answer: Omit<DigestAnswer, 'response' | 'username' | 'opaque'>,
  credentials: Credentials,
  method: string,
  body: Uint8Array,
): string {
  const { algorithm, realm, nonce, cnonce = '', nc = '', qop, uri } = answer
  const hash = (data: string | Uint8Array): string => {
    const made = createHash(HASHES[algorithm])
    return (typeof data === 'string' ? made.update(data, 'utf8') : made.update(data)).digest('hex')
  }
  const plain = hash(`${credentials.username}:${realm}:${credentials.password}`)
  const key = answer.session ? hash(`${plain}:${nonce}:${cnonce}`) : plain
  const asked = hash(qop === 'auth-int' ? `${method}:${uri}:${hash(body)}` : `${method}:${uri}`)
  return hash(qop === undefined ? `${key}:${nonce}:${asked}` : `${key}:${nonce}:${nc}:${cnonce}:${qop}:${asked}`)
}

/** The Authorization value that answers a challenge. `count` is how often its nonce was used, this time included. */
export function answerChallenge(
  challenge: Challenge,
  credentials: Credentials,
  request: { method: string; uri: string; body: Uint8Array },
  cnonce: string,
  count: number,
): string {
  const qop = challenge.qop.includes('auth') ? 'auth' : challenge.qop.includes('auth-int') ? 'auth-int' : undefined
  const nc = count.toString(16).padStart(8, '0')
  const response = digestResponse(
    { ...challenge, uri: request.uri, qop, cnonce, nc },
    credentials,
    request.method,
    request.body,
  )
  const fields = [
    `username=${quote(credentials.username)}`,
    `realm=${quote(challenge.realm)}`,
    `nonce=${quote(challenge.nonce)}`,
    `uri=${quote(request.uri)}`,
    `response="${response}"`,
    `algorithm=${challenge.algorithm}${challenge.session ? '-sess' : ''}`,
  ]
  if (challenge.opaque !== undefined) fields.push(`opaque=${quote(challenge.opaque)}`)
  if (qop !== undefined || challenge.session) fields.push(`cnonce=${quote(cnonce)}`)
  if (qop !== undefined) fields.push(`qop=${qop}`, `nc=${nc}`)
  return `Digest ${fields.join(', ')}`
}

/** Does the answer fit the credentials and the request? Constant-time. */
export function verifyAnswer(
  answer: DigestAnswer,
  credentials: Credentials,
  request: { method: string; body: Uint8Array },
): boolean {
  const expected = Buffer.from(digestResponse(answer, credentials, request.method, request.body), 'latin1')
  const given = Buffer.from(answer.response.toLowerCase(), 'latin1')
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** The WWW-Authenticate value that asks for a digest. */
export function formatChallenge(challenge: {
  realm: string
  nonce: string
  algorithm: DigestAlgorithm
  stale: boolean
}): string {
  const { realm, nonce, algorithm, stale } = challenge
  const fields = [`realm=${quote(realm)}`, `nonce=${quote(nonce)}`, `algorithm=${algorithm}`, 'qop="auth"']
  if (stale) fields.push('stale=true')
  return `Digest ${fields.join(', ')}`
}
