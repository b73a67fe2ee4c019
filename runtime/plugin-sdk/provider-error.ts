import { PatchbayError } from '../lib/errors.ts'
import { cleanText, shortText } from '../lib/text.ts'

/**
 * What a provider's failure means to an operator. Pure, and free of any provider's or library's types: an error is
 * judged by its status, its code and its words.
 */

export type ProviderFault = 'authentication' | 'quota' | 'rate_limit' | 'bad_request' | 'transient'

/** Too long for the model; against the filter of contents; a tool call that the model wrote and the server could not read. */
type RefusedPart = 'too_long' | 'content' | 'tool_call'

export interface ProviderFailure {
  fault: ProviderFault
  /** HTTP status, where there was one. */
  status: number | undefined
  /** Whether another attempt can help: not where the key, the account or the request is wrong. */
  retryable: boolean
  /** It may have been at work: the request may be billed. */
  timedOut?: true
  /** What was refused is the conversation: in another form it may be taken. */
  refused?: RefusedPart
  /** What happened and what to do about it. Holds no key, prompt or transcript. */
  message: string
}

/** Who failed. */
export interface ProviderIdentity {
  /** As people write it: `OpenAI`. */
  title: string
  /** The variable that holds the key. */
  keyVariable?: string | undefined
}

/** Raised by a plugin that has judged its provider's failure itself. */
export class ProviderError extends Error {
  readonly failure: ProviderFailure
  readonly #words: string

  /** @param words what the provider said in full; kept out of logs, as it may quote the request */
  constructor(failure: ProviderFailure, cause?: unknown, words = '') {
    super(failure.message, cause === undefined ? undefined : { cause })
    this.name = 'ProviderError'
    this.failure = failure
    this.#words = words
  }

  /** For the plugin alone, to find out which part of its request was refused. */
  get words(): string {
    return this.#words
  }
}

const QUOTA = /insufficient_quota|quota|billing|out of credits|insufficient (funds|credits|balance)|payment required/i
const REFUSED_KEY =
  /invalid[_ ]api[_ ]key|api[_ ]key[_ ](?:is[_ ])?(?:not[_ ]valid|invalid)|not authorized|incorrect api key|invalid_auth|invalid credentials|unauthorized/i
const RATE = /rate[_ ]limit|too many requests|concurrency limit/i
const MAX_WORDS = 160
/** Of what a provider said, so much is looked at. */
const MAX_CLUE_CHARS = 8_192

interface Clues {
  status: number | undefined
  /** `insufficient_quota`, `ECONNREFUSED`, … */
  code: string | undefined
  words: string
  timedOut: boolean
}

/** Judges what a provider's client, socket or HTTP answer raised. */
export function explainFailure(provider: ProviderIdentity, error: unknown): ProviderFailure {
  const judged = findFailure(error)
  if (judged !== undefined) return judged
  const own = ownFault(error)
  if (own !== undefined) return own
  const clues = cluesOf(error)
  const fault = faultOf(clues)
  const refused = fault === 'bad_request' ? refusedPart(clues) : undefined
  return {
    fault,
    status: clues.status,
    retryable: fault === 'transient' || fault === 'rate_limit' || refused === 'tool_call',
    ...(refused === undefined ? {} : { refused }),
    ...(fault === 'transient' && clues.timedOut ? { timedOut: true as const } : {}),
    message: messageFor(provider, fault, clues),
  }
}

/** Judges an HTTP answer that is no success. `words` is what the provider said about it. */
export function explainStatus(
  provider: ProviderIdentity,
  status: number,
  words: string,
  code?: string,
): ProviderFailure {
  return explainFailure(provider, { status, code, message: words })
}

/** What a plugin made of its provider's failure; undefined for an error that no plugin has judged. */
export function findFailure(error: unknown): ProviderFailure | undefined {
  if (error instanceof ProviderError) return error.failure
  const cause = error instanceof Error ? error.cause : undefined
  return cause === undefined ? undefined : findFailure(cause)
}

/** Of our own errors, how much is said. */
const MAX_OWN_WORDS = 1_000

/** What was no provider's fault: a missing grant, a wrong setting, a plugin that can't be run. Our sentence says what to do about it. */
function ownFault(error: unknown): ProviderFailure | undefined {
  const own = causesOf(error).find((link) => link instanceof PatchbayError)
  if (!(own instanceof PatchbayError)) return undefined
  const isPlugin = own.code === 'plugin'
  if (!isPlugin && own.code !== 'permission_denied' && own.code !== 'configuration') return undefined
  return {
    fault: isPlugin ? 'transient' : 'bad_request',
    status: undefined,
    // A plugin's process is started again.
    retryable: isPlugin,
    message: shortText(own.message, MAX_OWN_WORDS),
  }
}

function faultOf(clues: Clues): ProviderFault {
  const { status, code, words } = clues
  const said = `${code ?? ''} ${words}`
  if (status === 402 || ((status === undefined || status < 500) && QUOTA.test(said))) return 'quota'
  if (status === 401 || status === 403 || REFUSED_KEY.test(said)) return 'authentication'
  if (status === 429 || (status === undefined && RATE.test(said))) return 'rate_limit'
  if (status === 408 || status === 409 || status === 425 || status === 499) return 'transient'
  if (status !== undefined && status >= 400 && status < 500) return 'bad_request'
  // Said in the stream, it has no status.
  if (status === undefined && TOO_LONG.test(said)) return 'bad_request'
  return 'transient'
}

const TOO_LONG =
  /context[ _-]?(?:length|window|size)|maximum context|prompt is too long|input is too long|too many (?:input )?tokens|input token count|(?:prompt|input|request|messages?)\b.{0,40}\b(?:too (?:long|large)|exceeds?\b.{0,40}\btokens)/i
const FILTERED =
  /content[ _]?(?:filter|policy|management policy)|responsibleai|safety (?:system|policy|settings)|prohibited[ _]content|data_inspection_failed|blocked by .{0,30}(?:filter|safety|policy)|blockreason/i
const BAD_TOOL_CALL = /tool_use_failed|failed to call a function|failed_generation|tool call validation failed/i

function refusedPart({ code, words }: Clues): RefusedPart | undefined {
  const said = `${code ?? ''} ${words}`
  if (BAD_TOOL_CALL.test(said)) return 'tool_call'
  if (TOO_LONG.test(said)) return 'too_long'
  return FILTERED.test(said) ? 'content' : undefined
}

function messageFor({ title, keyVariable }: ProviderIdentity, fault: ProviderFault, clues: Clues): string {
  const number = clues.status === undefined ? '' : ` (${clues.status})`
  switch (fault) {
    case 'authentication':
      return `${title} refused the key${number}; check ${keyVariable ?? 'it'} and what it may be used for`
    case 'quota':
      return `${title} says the account has no credit or quota left${number}; check its plan and billing`
    case 'rate_limit':
      return `${title} limits the rate of requests${number}; fewer calls at once or a larger plan help`
    case 'bad_request':
      return `${title} refused the request${number}: ${harmless(clues.words) || 'it gave no reason'}`
    case 'transient':
      if (clues.timedOut) return `${title} did not answer in time`
      if (clues.status !== undefined && clues.status >= 400) return `${title} has a fault of its own${number}`
      return `${title} could not be reached or broke off (${clues.code ?? (harmless(clues.words) || 'no reason given')})`
  }
}

/** A reason inside a structure: `{'loc': ['body', 'tools'], 'msg': 'List should have at least 1 item'}`. */
const INNER_REASON = /['"](?:msg|message|detail|reason)['"]\s*:\s*(?:'([^']*)'|"([^"]*)")/
/** Lists of names and numbers, such as where in a request the fault is; nothing of a conversation fits in. */
const HARMLESS_LIST = /^\[[\w\s.,'"$-]{0,60}\]$/
const QUOTED_WORDS = /(?<=^|[\s([=:,])(["'`])(?=[^"'`]*\s)[^"'`]*\1(?![\p{L}\p{N}])/gu
const KEYS = /\b(?:(?:sk|pk|key|tok|dg)[-_][\w*-]{6,}|bearer\s+[\w*.-]{6,}|(?=\w*\d)(?=\w*[a-z])\w{24,})/gi

/**
 * The reason a provider gave, without keys and without what some servers quote of the request behind it: structures that
 * hold more than names, and quotations of more than one word.
 */
function harmless(words: string): string {
  const said = words
    .slice(0, MAX_CLUE_CHARS)
    .replace(/^\d{3}\s+/, '')
    .trim()
  const [, single, double] = /^[[{]/.test(said) ? (INNER_REASON.exec(said) ?? []) : []
  const masked = withoutStructures(single ?? double ?? said)
    .replace(QUOTED_WORDS, '…')
    .replace(KEYS, '…')
    .replace(/\s+/g, ' ')
    .replace(/ ?…(?: ?…)*/g, ' …')
    .trim()
  const plain = masked.replace(/^…$/, '')
  return shortText(plain, MAX_WORDS)
}

/** `…` for every structure in brackets that may hold a part of the request; one that is cut off goes to the end. */
function withoutStructures(text: string): string {
  let out = ''
  for (let at = 0; at < text.length; ) {
    if (!'[{'.includes(text[at]!)) {
      out += text[at++]
      continue
    }
    const end = endOfStructure(text, at)
    const structure = text.slice(at, end)
    out += HARMLESS_LIST.test(structure) && !/\w\s+\w/.test(structure) ? structure : '…'
    at = end
  }
  return out
}

function endOfStructure(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if ('[{'.includes(text[at]!)) depth++
    else if (']}'.includes(text[at]!) && --depth === 0) return at + 1
  }
  return text.length
}

function cluesOf(error: unknown): Clues {
  const chain = causesOf(error)
  const first = <T>(pick: (link: Record<string, unknown>) => T | undefined): T | undefined => {
    for (const link of chain) {
      const found = pick(link)
      if (found !== undefined) return found
    }
    return undefined
  }
  const words = first((link) => text(link.message)) ?? text(error) ?? ''
  return {
    status:
      first((link) => httpStatus(link.status) ?? httpStatus(link.statusCode)) ??
      // The ws package tells the status of a refused upgrade in words alone.
      httpStatus(Number(/Unexpected server response: (\d{3})/.exec(words)?.[1])),
    code: first((link) => text(link.code) ?? text((link.body as Record<string, unknown> | undefined)?.code)),
    words,
    timedOut: chain.some(
      ({ name, code }) => /Timeout/.test(String(name)) || code === 'ETIMEDOUT' || code === 'timeout',
    ),
  }
}

const MAX_CAUSES = 5

function causesOf(error: unknown): Record<string, unknown>[] {
  const chain: Record<string, unknown>[] = []
  let link = error
  while (typeof link === 'object' && link !== null && chain.length < MAX_CAUSES) {
    const record = link as Record<string, unknown>
    chain.push(record)
    link = record.cause ?? (Array.isArray(record.errors) ? record.errors[0] : undefined)
  }
  return chain
}

function httpStatus(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 400 && value <= 599 ? value : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? cleanText(value, MAX_CLUE_CHARS) : undefined
}
