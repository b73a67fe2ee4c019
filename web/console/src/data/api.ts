/** The one way to the public API: paths of this instance, the cookies of who is signed in, errors as sentences. */
import { language } from '../language/language.ts'
import { said, t } from '../language/t.ts'

export class ApiError extends Error {
  readonly status: number
  /** Of a 422 answer: what is wrong with each field, by its name. */
  readonly fields: Readonly<Record<string, string>>
  /** Fields at which that is shown. */
  readonly #shown = new Set<string>()
  /** Seconds after which asking again makes sense. */
  readonly retryAfterS: number | undefined
  /** The name of the error, and what its sentence names. */
  readonly code: string | undefined
  readonly params: Readonly<Record<string, unknown>>

  constructor(
    status: number,
    message: string,
    fields: Record<string, string> = {},
    { retryAfterS, code, params = {} }: Partial<Pick<ApiError, 'retryAfterS' | 'code' | 'params'>> = {},
  ) {
    super(message)
    this.status = status
    this.fields = fields
    this.retryAfterS = retryAfterS
    this.code = code
    this.params = params
  }

  /** What is wrong with a field that is on the page, for its place there; it is then said nowhere else. */
  shownAt(field: string): string | undefined {
    const sentence = this.fields[field]
    if (sentence !== undefined) this.#shown.add(field)
    return sentence
  }

  /** The sentence for the form as a whole: of fields, those whose faults are shown nowhere. */
  get rest(): string {
    const fields = Object.entries(this.fields)
    if (!fields.some(([field]) => this.#shown.has(field))) return this.message
    const left = fields.filter(([field]) => !this.#shown.has(field))
    return left.length === 0 ? t('Nothing was saved: see the marked fields.') : sentenceOf(left)
  }
}

/** Faults of fields in one sentence. */
function sentenceOf(faults: readonly (readonly [field: string, sentence: string])[]): string {
  return faults.map(([field, sentence]) => `${field.replaceAll('.', ' › ') || t('The input')} ${sentence}`).join('; ')
}

/** The instance can't be reached at all. */
export class Unreachable extends Error {}

export interface Ask {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  query?: Readonly<Record<string, string | number | boolean | undefined | null>>
  body?: unknown
  form?: FormData
  signal?: AbortSignal
  /** Makes a repeated request harmless. */
  idempotencyKey?: string
  /** The tag of what was read: it is changed only where it is still so, else 412. */
  ifMatch?: string | undefined
}

/** Tags of answers (RFC 9110, 8.8.3). */
const tags = new WeakMap<object, string>()

/** The tag that the answer came with. */
export const tagOf = (answer: object): string | undefined => tags.get(answer)

/** `to` says the same as the answer `from`. */
export function passTag(from: unknown, to: unknown): void {
  if (typeof from !== 'object' || from === null || typeof to !== 'object' || to === null) return
  const tag = tags.get(from)
  if (tag !== undefined) tags.set(to, tag)
}

/** What the page does when the session is over: resolves once somebody is signed in again. */
type SignInAgain = () => Promise<void>
let signInAgain: SignInAgain = () => Promise.reject(new ApiError(401, t('Sign in first')))
let reached: (isReached: boolean) => void = () => {}

export function onSessionOver(handler: SignInAgain): void {
  signInAgain = handler
}
export function onReached(handler: (isReached: boolean) => void): void {
  reached = handler
}

export async function api<T>(path: string, ask: Ask = {}): Promise<T> {
  const answer = await request(path, ask)
  const body: unknown = await answer.json()
  const tag = answer.headers.get('etag')
  if (tag !== null && typeof body === 'object' && body !== null) tags.set(body, tag)
  return body as T
}

/** As `api`, where the answer is no JSON. */
export async function request(path: string, ask: Ask = {}): Promise<Response> {
  for (;;) {
    const answer = await send(path, ask)
    if (answer.ok) return answer
    if (answer.status === 401 && !(await isOfPassword(path, answer))) {
      if (!(await refreshed())) await signInAgain()
      continue
    }
    throw await errorOf(answer)
  }
}

const WRONG_PASSWORD = 'Invalid email or password'

/** Whether a 401 is about a password that was sent, and says nothing of the session. */
async function isOfPassword(path: string, answer: Response): Promise<boolean> {
  if (path === '/auth/login' || path === '/auth/refresh') return true
  const said = (await answer
    .clone()
    .json()
    .catch(() => ({}))) as { detail?: unknown }
  return said.detail === WRONG_PASSWORD
}

/** The signed-in user or undefined; asks for new tokens where the old ones ran out. */
export async function whoAmI<T>(): Promise<T | undefined> {
  const answer = await send('/auth/me', {})
  if (answer.ok) return (await answer.json()) as T
  if (answer.status !== 401) throw await errorOf(answer)
  if (!(await refreshed())) return undefined
  const again = await send('/auth/me', {})
  return again.ok ? ((await again.json()) as T) : undefined
}

async function send(
  path: string,
  { method = 'GET', query, body, form, signal, idempotencyKey, ifMatch }: Ask,
): Promise<Response> {
  const headers: Record<string, string> = { 'accept-language': language }
  if (body !== undefined) headers['content-type'] = 'application/json'
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey
  if (ifMatch !== undefined) headers['if-match'] = ifMatch
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.size > 0 ? `${path}?${search}` : path
  try {
    const answer = await fetch(text, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form === undefined ? {} : { body: form }),
      ...(signal === undefined ? {} : { signal }),
    })
    reached(true)
    return answer
  } catch (cause) {
    if (signal?.aborted) throw cause
    reached(false)
    const isRead = method === 'GET'
    const said = isRead
      ? t('Patchbay does not answer. The page goes on by itself once it does.')
      : t('Patchbay does not answer, so nothing was saved. Nothing you typed is lost: try again once it is back.')
    throw new Unreachable(said, { cause })
  }
}

let refreshing: Promise<boolean> | undefined
/** Requests that find the token expired at once share one refresh. */
function refreshed(): Promise<boolean> {
  const ask = async () => (await send('/auth/refresh', { method: 'POST' })).ok
  refreshing ??= ask().finally(() => {
    refreshing = undefined
  })
  return refreshing
}

interface Fault {
  loc: string[]
  msg: string
}

interface ErrorAnswer {
  detail?: unknown
  code?: unknown
  params?: unknown
}

async function errorOf(answer: Response): Promise<ApiError> {
  const retryAfter = Number(answer.headers.get('retry-after') ?? Number.NaN)
  const retryAfterS = Number.isFinite(retryAfter) ? retryAfter : undefined
  const body: unknown = await answer.json().catch(() => undefined)
  const { detail, code, params } = (typeof body === 'object' && body !== null ? body : {}) as ErrorAnswer
  const more = {
    retryAfterS,
    code: typeof code === 'string' ? code : undefined,
    params: typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {},
  }
  if (Array.isArray(detail)) {
    const faults = detail as Fault[]
    const fields = faults.map(({ loc, msg }) => [loc.slice(1).join('.'), said(msg)] as const)
    return new ApiError(answer.status, sentenceOf(fields), Object.fromEntries(fields), more)
  }
  const sentence =
    typeof detail === 'string' ? said(detail) : t('Patchbay answered with {status}', { status: answer.status })
  return new ApiError(answer.status, sentence, {}, more)
}
