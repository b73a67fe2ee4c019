import type { Logger } from '../../runtime/process/log.ts'
import type { RecognisedKey } from '../auth/authenticate.ts'
import type { Compiled } from '../input.ts'
import { type AnyRoute, hasEffect, isAudited, takesKey } from '../route.ts'
import type { Match } from './router.ts'
import type { Incoming } from './server.ts'
import { hasTag, takesMatch } from './while-matching.ts'

const SAFE_METHODS = new Set(['GET', 'HEAD'])
const NONE: Readonly<Record<string, string>> = Object.freeze({})

/** A matched request: what is read from the connection before the first await. */
export class MatchedRequest {
  readonly incoming: Incoming
  readonly route: AnyRoute
  readonly compiled: Compiled
  readonly requestId: string
  readonly cookies: string
  readonly apiKey: string
  readonly workspaceId: string
  readonly idempotencyKey: string
  readonly ifMatch: string
  readonly acceptEncoding: string
  readonly ifNoneMatch: string
  readonly contentType: string
  /** Read for writes, and for reads that do something. */
  readonly origin: string
  readonly host: string
  /** Read for reads that do something. */
  readonly fetchSite: string
  /** Read where it is written down. */
  readonly forwardedFor: string
  readonly params: Readonly<Record<string, string>>
  readonly log: Logger
  /** The API key that asked, also where it was refused. */
  key: RecognisedKey | undefined
  readonly #headers: Readonly<Record<string, string>>

  constructor(incoming: Incoming, { entry, params }: Match<Compiled>, requestId: string, log: Logger) {
    const { route, compiled } = entry
    this.incoming = incoming
    this.route = route
    this.compiled = compiled
    this.requestId = requestId
    this.log = log
    this.cookies = incoming.header('cookie')
    this.apiKey = route.auth === 'none' ? '' : apiKeyOf(incoming)
    this.workspaceId = route.auth === 'none' ? '' : incoming.header('x-workspace-id')
    this.idempotencyKey = takesKey(route) ? incoming.header('idempotency-key') : ''
    this.ifMatch = takesMatch(route) ? incoming.header('if-match') : ''
    this.acceptEncoding = route.isPacked ? incoming.header('accept-encoding') : ''
    this.ifNoneMatch = hasTag(route) ? incoming.header('if-none-match') : ''
    const isWrite = !SAFE_METHODS.has(incoming.method)
    this.contentType = isWrite ? incoming.header('content-type') : ''
    this.origin = isWrite || hasEffect(route) ? incoming.header('origin') : ''
    this.fetchSite = hasEffect(route) ? incoming.header('sec-fetch-site') : ''
    this.host = this.origin === '' ? '' : incoming.header('host')
    this.forwardedFor = isWrite || isAudited(route) ? incoming.header('x-forwarded-for') : ''
    this.params =
      compiled.paramNames.length === 0
        ? NONE
        : Object.fromEntries(compiled.paramNames.map((name, i) => [name, decode(params[i] ?? '')]))
    this.#headers = headersOf(incoming, compiled.headers)
  }

  recognised(key: RecognisedKey): void {
    this.key = key
  }

  header(name: string): string {
    return this.#headers[name] ?? ''
  }
}

function headersOf(incoming: Incoming, names: readonly string[] | 'all'): Readonly<Record<string, string>> {
  if (names.length === 0) return NONE
  return names === 'all' ? incoming.headers() : Object.fromEntries(names.map((name) => [name, incoming.header(name)]))
}

const BEARER = /^Bearer +(pb_\S+)$/i

/** From its own header, or as servers send tokens. */
function apiKeyOf(incoming: Incoming): string {
  return incoming.header('x-api-key') || (BEARER.exec(incoming.header('authorization'))?.[1] ?? '')
}

/** `%00` and broken escapes name nothing; an empty value matches no resource. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    const text = decodeURIComponent(segment)
    return text.includes('\0') ? '' : text
  } catch {
    return ''
  }
}
