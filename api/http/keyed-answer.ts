import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { createSecretBox, type DataKeys } from '../../runtime/lib/secret-box.ts'
import type { KeyShelf } from '../../store/database/idempotency.ts'
import { keyFault, MAX_KEY_LENGTH } from '../idempotency.ts'
import type { HandledRequest } from './handled-request.ts'
import type { HttpResponse } from './server.ts'

/**
 * `Idempotency-Key` of every POST whose handler doesn't keep its answer itself: the answer is kept for a day and given again, marked, to
 * who comes with the same key and the same request. A refusal is not kept: what it asked for did not happen. Where a request broke off, so
 * that nobody knows, the same key gets 409. Answers are sealed, for some hold secrets that are shown once; what is still sealed under
 * a data key that is gone counts as broken off.
 */

interface Keyed {
  readonly key: string
  readonly shelf: KeyShelf
  /** What the request asks for, but for a form: route, path, query and JSON body. */
  readonly input: unknown
  readonly keys: DataKeys
  /** The database's, which says when a key was first used. */
  readonly clock: Pick<Clock, 'nowMs'>
}

/** An answer as it is kept. */
interface Kept {
  status: number
  headers: readonly (readonly [string, string])[]
  body: string
  /** The body is bytes. */
  isBase64: boolean
  /** Of the form that was sent. */
  form: string | null
}

/** A longer answer is not kept: its key counts as broken off. */
const MAX_KEPT_CHARS = 1 << 20
/** Who comes while the first request is under way at another node waits so long for its answer. */
const WAIT_MS = 10_000
const LOOK_MS = 200
/** They are of one answer alone, or of the session that got it. */
const NOT_KEPT: ReadonlySet<string> = new Set(['x-request-id', 'set-cookie'])

/** Requests of one key within this process come one after the other. */
const underWay = new Map<string, Promise<unknown>>()

/** The answer of `handle`, or the one that it gave before. */
export async function keyedAnswer(
  request: HandledRequest,
  keyed: Keyed,
  handle: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const { key, shelf } = keyed
  if (key.length > MAX_KEY_LENGTH) throw keyFault(`must have at most ${MAX_KEY_LENGTH} characters`)
  const name = `${shelf.name} ${key}`
  while (underWay.has(name)) await underWay.get(name)
  const answering = answer(request, keyed, handle)
  const settled = answering.then(
    () => {},
    () => {},
  )
  underWay.set(name, settled)
  try {
    return await answering
  } finally {
    if (underWay.get(name) === settled) underWay.delete(name)
  }
}

async function answer(
  request: HandledRequest,
  { key, shelf, input, keys, clock }: Keyed,
  handle: () => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const box = createSecretBox(keys, 'kept answers')
  const label = `${shelf.name} ${key}`
  const hash = createHash('sha256').update(JSON.stringify(input)).digest()
  for (let waitedMs = 0; ; waitedMs += LOOK_MS) {
    const found = await shelf.find(key)
    if (found === undefined) {
      if (await shelf.claim(key, hash)) return first()
    } else {
      if (!found.requestHash.equals(hash)) throw keyFault('was used with another input')
      if (found.answer !== null) return again(found.answer)
      if (clock.nowMs() - found.createdAt.getTime() > WAIT_MS) throw new PatchbayError('idempotency_unsettled')
    }
    if (waitedMs >= WAIT_MS) throw new PatchbayError('idempotency_unsettled')
    await sleep(LOOK_MS)
  }

  async function first(): Promise<HttpResponse> {
    let response: HttpResponse
    try {
      response = await handle()
    } catch (error) {
      if (isRefusal(error)) await shelf.drop(key).catch(told)
      throw error
    }
    const kept = keptOf(response, request.formDigest)
    if (kept !== undefined) await shelf.keep(key, box.seal(JSON.stringify(kept), label)).catch(told)
    return response
  }

  async function again(sealed: string): Promise<HttpResponse> {
    const text = box.open(sealed, label)
    if (text === undefined) throw new PatchbayError('idempotency_unsettled')
    const { status, headers, body, isBase64, form } = JSON.parse(text) as Kept
    if (form !== null) {
      await request.form(async ({ content }) => {
        for await (const _ of content);
      })
      if (request.formDigest?.toString('base64') !== form) throw keyFault('was used with another input')
    }
    request.answeredBefore()
    return {
      status,
      headers: [...headers, ['x-request-id', request.id]],
      ...(body === '' ? {} : { body: isBase64 ? Buffer.from(body, 'base64') : body }),
    }
  }

  /** The answer is owed all the same; its key counts as broken off. */
  function told(err: unknown): void {
    request.log.error({ err }, 'The answer to an Idempotency-Key could not be kept')
  }
}

/** Whether the error says that nothing happened. */
const isRefusal = (error: unknown): boolean =>
  error instanceof PatchbayError && (error.status < 500 || error.status === 503)

/** Undefined for what can't be kept. */
function keptOf({ status, headers, body = '' }: HttpResponse, form: Buffer | undefined): Kept | undefined {
  const isBytes = body instanceof Uint8Array
  if (typeof body !== 'string' && !isBytes) return undefined
  const text = isBytes ? Buffer.from(body).toString('base64') : body
  if (text.length > MAX_KEPT_CHARS) return undefined
  return {
    status,
    headers: headers.filter(([name]) => !NOT_KEPT.has(name)),
    body: text,
    isBase64: isBytes,
    form: form === undefined ? null : form.toString('base64'),
  }
}
