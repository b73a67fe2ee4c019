import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/**
 * Checks AWS Signature Version 4 as a server does, after Amazon's "Authenticating Requests" for S3, and shares no line
 * with the client that signs. Returns the error code S3 would give, or undefined.
 */

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

interface Claim {
  credential: string
  signedHeaders: string[]
  signature: string
  date: string
  payload: string
  /** Query parameters as they are signed. */
  query: [string, string][]
}

const MAX_SKEW_MS = 15 * 60_000

export function faultOfSignature(
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>,
  body: Uint8Array,
  { accessKeyId, secretAccessKey, region }: S3Credentials,
  nowMs: number,
): string | undefined {
  const url = new URL(request.url ?? '/', 'http://s3')
  const query = rawQuery(request.url ?? '')
  const presigned = url.searchParams.has('X-Amz-Signature')
  const claim = presigned ? queryClaim(url, query) : headerClaim(request, query)
  if (claim === undefined) return 'AccessDenied'
  const [keyId, day, signedRegion, service, end] = claim.credential.split('/')
  if (keyId !== accessKeyId) return 'InvalidAccessKeyId'
  if (signedRegion !== region || service !== 's3' || end !== 'aws4_request') return 'AuthorizationHeaderMalformed'
  if (day !== claim.date.slice(0, 8) || !claim.signedHeaders.includes('host')) return 'SignatureDoesNotMatch'
  const signedAtMs = Date.parse(claim.date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
  const lifeMs = presigned ? Number(url.searchParams.get('X-Amz-Expires')) * 1000 : MAX_SKEW_MS
  if (!(nowMs <= signedAtMs + lifeMs) || nowMs < signedAtMs - MAX_SKEW_MS) {
    return presigned ? 'AccessDenied' : 'RequestTimeTooSkewed'
  }
  if (!presigned && claim.payload !== sha256(body)) return 'XAmzContentSHA256Mismatch'

  const canonical = [
    request.method,
    (request.url ?? '').split('?')[0],
    claim.query
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join('&'),
    ...claim.signedHeaders.map((name) => `${name}:${String(request.headers[name] ?? '').trim()}`),
    '',
    claim.signedHeaders.join(';'),
    claim.payload,
  ].join('\n')
  const scope = `${day}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', claim.date, scope, sha256(canonical)].join('\n')
  const key = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (secret, part) => hmac(secret, part as string),
    `AWS4${secretAccessKey}`,
  )
  const expected = hmac(key, toSign)
  const given = Buffer.from(claim.signature, 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected) ? undefined : 'SignatureDoesNotMatch'
}

function headerClaim(request: Pick<IncomingMessage, 'headers'>, query: [string, string][]): Claim | undefined {
  const match = /^AWS4-HMAC-SHA256 Credential=(\S+), ?SignedHeaders=(\S+), ?Signature=([0-9a-f]{64})$/.exec(
    request.headers.authorization ?? '',
  )
  if (match === null) return undefined
  const payload = request.headers['x-amz-content-sha256']
  const date = request.headers['x-amz-date']
  if (typeof payload !== 'string' || typeof date !== 'string') return undefined
  return { credential: match[1]!, signedHeaders: match[2]!.split(';'), signature: match[3]!, date, payload, query }
}

function queryClaim(url: URL, query: [string, string][]): Claim | undefined {
  const get = (name: string) => url.searchParams.get(name) ?? ''
  if (get('X-Amz-Algorithm') !== 'AWS4-HMAC-SHA256') return undefined
  return {
    credential: get('X-Amz-Credential'),
    signedHeaders: get('X-Amz-SignedHeaders').split(';'),
    signature: get('X-Amz-Signature'),
    date: get('X-Amz-Date'),
    payload: 'UNSIGNED-PAYLOAD',
    query: query.filter(([name]) => name !== 'X-Amz-Signature'),
  }
}

/** Parameters encoded as the canonical request has them, whatever the client's way of encoding was. */
function rawQuery(target: string): [string, string][] {
  return [...new URLSearchParams(target.split('?')[1] ?? '')].map(([name, value]) => [encode(name), encode(value)])
}

function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

function hmac(key: string | Buffer, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest()
}
