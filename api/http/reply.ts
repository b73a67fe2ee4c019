import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type ErrorCode, PatchbayError } from '../../runtime/lib/errors.ts'
import { findFailure } from '../../runtime/plugin-sdk/provider-error.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { redisOutage } from '../../store/connections/outage.ts'
import { isUnreachable } from '../../store/database/database.ts'
import { type AnyRoute, Reply } from '../route.ts'
import { ValidationError } from '../schema.ts'
import type { HttpResponse, Incoming } from './server.ts'

/** What handlers and errors come to, as answers of HTTP. */

const JSON_HEADER = ['content-type', 'application/json; charset=utf-8'] as const

/** The answer to a request whose handler returned `result`. */
export function replyOf({ success }: AnyRoute, requestId: string, result: unknown): HttpResponse {
  const idHeader = ['x-request-id', requestId] as const
  if (!(result instanceof Reply)) {
    return { status: success.status, headers: [JSON_HEADER, idHeader], body: textOf(result) }
  }
  const status = result.status ?? success.status
  if (result.stream) return { status, headers: [idHeader, ...result.headers], body: result.stream }
  const { body } = result
  const asIs = typeof body === 'string' || body instanceof Uint8Array || body === undefined
  return {
    status,
    headers: asIs ? [idHeader, ...result.headers] : [JSON_HEADER, idHeader, ...result.headers],
    ...(body === undefined ? {} : { body: asIs ? body : JSON.stringify(body) }),
  }
}

/**
 * So much of a list is written in one turn of the event loop: a part of a millisecond. Of a string above 128 KB V8 makes memory of its
 * own, which a collection gives back to the system while everybody waits.
 */
const PIECE_CHARACTERS = 64 * 1024

/** JSON of the result; of a long list, or page of one, a stream that lets calls of this loop have their turns. */
function textOf(result: unknown): string | AsyncIterable<string> {
  const items = Array.isArray(result) ? result : (result as { items?: unknown } | undefined)?.items
  if (!Array.isArray(items) || items.length < 2) return JSON.stringify(result)
  const [head = '', tail = ''] = Array.isArray(result)
    ? ['[', ']']
    : halves(JSON.stringify({ ...(result as object), items: [] }), '"items":[')
  const pieces = piecesOf(items, head, tail)
  const first = pieces.next().value ?? ''
  const second = pieces.next()
  return second.done ? first : paced([first, second.value], pieces)
}

function halves(text: string, at: string): [string, string] {
  const middle = text.indexOf(at) + at.length
  return [text.slice(0, middle), text.slice(middle)]
}

function* piecesOf(items: readonly unknown[], head: string, tail: string): Generator<string> {
  let text = head
  for (const [i, item] of items.entries()) {
    if (text.length > PIECE_CHARACTERS) {
      yield text
      text = ''
    }
    text += `${i === 0 ? '' : ','}${JSON.stringify(item) ?? 'null'}`
  }
  yield text + tail
}

async function* paced(...parts: readonly Iterable<string>[]): AsyncGenerator<string> {
  for (const pieces of parts) {
    for (const piece of pieces) {
      yield piece
      await setImmediate()
    }
  }
}

/** A full waiting room moves on within about this time; an error that knows better says so itself. */
const RETRY_AFTER_S = '1'

/** Their sentences are for operators, unless a route declares that its callers may read them. */
const OPERATORS_ERRORS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['configuration', 'permission_denied', 'plugin'])

/** The error that callers of the route get. */
export function toldError(error: unknown, route?: AnyRoute): PatchbayError {
  const reason = error instanceof PatchbayError ? undefined : (redisOutage(error) ?? providerOutage(error))
  const raised =
    error instanceof PatchbayError
      ? error
      : reason !== undefined
        ? new PatchbayError('unavailable', { reason, cause: error })
        : new PatchbayError(isUnreachable(error) ? 'database_unavailable' : 'internal', { cause: error })
  const isHidden = OPERATORS_ERRORS.has(raised.code) && !route?.errors?.includes(raised.code)
  return isHidden ? new PatchbayError('internal', { cause: raised }) : raised
}

/** What a provider failed with that may answer a later request. How a refused key or account is mended is for operators. */
function providerOutage(error: unknown): string | undefined {
  const failure = findFailure(error)
  if (failure === undefined) return undefined
  if (failure.fault === 'authentication' || failure.fault === 'quota') return failure.message.split('; ')[0]
  return failure.retryable ? failure.message : undefined
}

/** RFC 6750, 3. Browsers ask nobody for a password at a scheme they don't know. */
function challengeOf({ code, params }: PatchbayError): string {
  if (code === 'insufficient_scope') return `Bearer error="insufficient_scope", scope="${params.scope}"`
  return code === 'wrong_credentials' ? 'Bearer' : 'Bearer error="invalid_token"'
}

/**
 * The answer to an error. An error that is no PatchbayError is a defect: its cause goes to the log alone. `incoming` and
 * `route` are known for a request that came that far.
 */
export function errorReply(
  error: unknown,
  requestId: string,
  log: Logger,
  incoming?: Incoming,
  route?: AnyRoute,
): Omit<HttpResponse, 'body'> & { body: string } {
  const known = toldError(error, route)
  // What an operator decided is no fault.
  if (known.status >= 500 && known.code !== 'maintenance' && !incoming?.signal.aborted) {
    const { method, path } = incoming ?? {}
    log.error({ err: known.cause ?? known, code: known.code, requestId, method, path }, 'Request failed')
  }
  const detail = known instanceof ValidationError ? known.faults : known.message
  const { code, params } = known
  const passes = known.status === 503 || known.code === 'database_unavailable'
  const headers = {
    ...(passes && { 'retry-after': RETRY_AFTER_S }),
    ...(known.status === 401 && { 'www-authenticate': challengeOf(known) }),
    ...known.headers,
  }
  return {
    status: known.status,
    headers: [JSON_HEADER, ['x-request-id', requestId], ...Object.entries(headers)],
    body: JSON.stringify({ detail, code, request_id: requestId, params }),
  }
}

/**
 * What every answer's head says where the answer itself doesn't: answers are somebody's data, not to be kept by caches,
 * taken for another type or framed by another page.
 */
export function standingHeaders(publicUrl: string): readonly (readonly [string, string])[] {
  return [
    ['cache-control', 'no-store'],
    ['x-content-type-options', 'nosniff'],
    ['content-security-policy', "frame-ancestors 'none'"],
    ...(publicUrl.startsWith('https:') ? [['strict-transport-security', 'max-age=31536000'] as const] : []),
  ]
}

/** The answer with one more header. */
export function withHeader(response: HttpResponse, name: string, value: string): HttpResponse {
  return { ...response, headers: [...response.headers, [name, value]] }
}

const REQUEST_ID = /^[\w.:+/=-]{1,128}$/

/** Whether it is fit to be echoed and logged. */
export const isRequestId = (text: string): boolean => REQUEST_ID.test(text)

/** The caller's id when it is fit, else a new one. */
export function requestIdOf(header: string): string {
  return isRequestId(header) ? header : randomUUID()
}
