import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { HttpResponse } from './http-response.ts'

/** A shorter answer fits into the first packets as it is. */
const MIN_CHARS = 16_384
const TAKES_GZIP = /(?:^|,)\s*(?:gzip|\*)\s*(?!;\s*q=0(?:\.0*)?\s*(?:,|$))(?:;|,|$)/i

/** The answer as it travels to a client that takes gzip (RFC 9110, 12.5.3); its tag is then a weak one, as proxies make of it. */
export async function packedAnswer(response: HttpResponse, acceptEncoding: string): Promise<HttpResponse> {
  const { body, headers } = response
  if (typeof body !== 'string' || body.length < MIN_CHARS) return response
  const varying = [...headers, ['vary', 'accept-encoding'] as const]
  if (!TAKES_GZIP.test(acceptEncoding)) return { ...response, headers: varying }
  const weak = varying.map(([name, value]) => [name, name === 'etag' ? `W/${value}` : value] as const)
  return { ...response, body: await promisify(gzip)(body), headers: [...weak, ['content-encoding', 'gzip']] }
}
