import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { PluginHost } from '../../runtime/plugin/contract.ts'
import {
  explainFailure,
  explainStatus,
  ProviderError,
  type ProviderIdentity,
} from '../../runtime/plugin-sdk/provider-error.ts'
import { errorOf } from './xml.ts'

const PROVIDER: ProviderIdentity = { title: 'S3', keyVariable: 'S3_SECRET_ACCESS_KEY' }
const DEFAULT_REGION = 'us-east-1'
const MAX_REFUSAL_BYTES = 16 * 1024

interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty: the bucket itself. */
  key: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array<ArrayBuffer>
  /** How long the answer's head may take. */
  timeoutMs: number
  signal: AbortSignal
}

/** One bucket: requests signed with AWS Signature Version 4, addressed by path, which every server understands. */
export class S3Bucket {
  readonly #host: PluginHost
  readonly #base: string
  readonly #publicBase: string
  readonly #credentials: {
    accessKeyId: string
    secretAccessKey: string
    sessionToken?: string
    region: string
    service: 's3'
    cache: Map<string, ArrayBuffer>
  }

  /** Throws `plugin` when a setting is missing or is no address. */
  constructor(host: PluginHost) {
    this.#host = host
    const region = host.env.get('S3_REGION') || DEFAULT_REGION
    const bucket = required(host, 'S3_BUCKET')
    if (!/^[A-Za-z0-9._-]{3,255}$/.test(bucket)) throw misconfigured(`S3_BUCKET "${bucket}" can't be a bucket's name`)
    const endpoint = host.env.get('S3_ENDPOINT') || `https://s3.${region}.amazonaws.com`
    this.#base = `${addressOf('S3_ENDPOINT', endpoint)}/${bucket}`
    this.#publicBase = `${addressOf('S3_PUBLIC_ENDPOINT', host.env.get('S3_PUBLIC_ENDPOINT') || endpoint)}/${bucket}`
    const sessionToken = host.env.get('S3_SESSION_TOKEN')
    this.#credentials = {
      accessKeyId: required(host, 'S3_ACCESS_KEY_ID'),
      secretAccessKey: required(host, 'S3_SECRET_ACCESS_KEY'),
      ...(sessionToken ? { sessionToken } : {}),
      region,
      service: 's3',
      cache: new Map(),
    }
  }

  /** Returns any 2xx answer, and a 404 unless it reports a missing bucket. Throws ProviderError. */
  async send(request: S3Request): Promise<Response> {
    const url = new URL(`${this.#base}${request.key === '' ? '' : `/${request.key}`}`)
    for (const [name, value] of Object.entries(request.query ?? {})) url.searchParams.set(name, value)
    const body = request.body
    const signed = await new AwsV4Signer({
      ...this.#credentials,
      url: url.href,
      method: request.method,
      headers: {
        ...request.headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
    }).sign()
    // The time limit ends with the head of the answer: a body may take as long as its reader does.
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new DOMException('S3 took too long', 'TimeoutError')), request.timeoutMs)
    try {
      const response = await this.#host.net.fetch(signed.url, {
        method: request.method,
        headers: signed.headers,
        redirect: 'manual',
        signal: joinSignals(request.signal, limit.signal),
        ...(body === undefined ? {} : { body }),
      })
      if (response.ok) return response
      const refusal = await this.#refusalOf(response, limit.signal)
      if (response.status === 404 && refusal.code !== 'NoSuchBucket' && refusal.code !== 'NoSuchUpload') return response
      throw new ProviderError(explainStatus(PROVIDER, refusal.status, refusal.words, refusal.code))
    } catch (error) {
      if (error instanceof ProviderError || (request.signal.aborted && !limit.signal.aborted)) throw error
      if (error instanceof PatchbayError && error.code === 'permission_denied') throw error
      throw new ProviderError(explainFailure(PROVIDER, error), error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** A presigned GET URL, valid for this long. Computed locally. */
  async presign(key: string, expiresInS: number, query: Readonly<Record<string, string>>): Promise<string> {
    const url = new URL(`${this.#publicBase}/${key}`)
    for (const [name, value] of Object.entries({ ...query, 'X-Amz-Expires': String(expiresInS) })) {
      url.searchParams.set(name, value)
    }
    const signed = await new AwsV4Signer({ ...this.#credentials, url: url.href, method: 'GET', signQuery: true }).sign()
    // A plus sign is a space to some servers and a plus sign to others.
    return signed.url.href.replaceAll('+', '%20')
  }

  /** Whether the bucket is there and the key may use it. Throws ProviderError. */
  async check(signal: AbortSignal): Promise<void> {
    const query = { 'list-type': '2', 'max-keys': '0' }
    const response = await this.send({ method: 'GET', key: '', query, timeoutMs: 10_000, signal })
    await response.body?.cancel()
  }

  /** What the server said against it. A redirect means that the bucket lives elsewhere, which only a setting can mend. */
  async #refusalOf(response: Response, signal: AbortSignal): Promise<{ status: number; words: string; code?: string }> {
    const text = response.body === null ? '' : await readHead(response.body, signal)
    const { code, message } = errorOf(text)
    if (response.status >= 300 && response.status < 400) {
      const region = response.headers.get('x-amz-bucket-region')
      const hint = region === null ? 'correct S3_ENDPOINT' : `set S3_REGION to ${region}`
      return { status: 400, words: `the bucket is elsewhere; ${hint}` }
    }
    return { status: response.status, words: message ?? '', ...(code === undefined ? {} : { code }) }
  }
}

async function readHead(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body) {
    signal.throwIfAborted()
    parts.push(part)
    length += part.length
    if (length >= MAX_REFUSAL_BYTES) break
  }
  return Buffer.concat(parts).toString('utf8', 0, MAX_REFUSAL_BYTES)
}

function required(host: PluginHost, name: string): string {
  const value = host.env.get(name)
  if (!value) throw misconfigured(`S3 can't be used: ${name} is not set`)
  return value
}

function addressOf(variable: string, address: string): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw misconfigured(`${variable} "${address}" is not an http or https address`)
  }
  return url.href.replace(/\/+$/, '')
}

function misconfigured(reason: string): PatchbayError {
  return new PatchbayError('plugin', { params: { reason } })
}
