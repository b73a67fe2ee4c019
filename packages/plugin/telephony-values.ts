import type { AnsweredBy, CarrierCallState, CarrierNews, DialFailure, StreamShape } from './telephony.ts'
import { type Fields, objectOf, WrongValue } from './values.ts'

/** Checks what a carrier plugin gives against the contract: in its own process, and again in the role. Imports nothing of Node. */

/** What a role has to know of a carrier plugin before it uses it. */
export interface TelephonyDescription {
  stream: StreamShape
  headers: string[]
  documentType: 'text/xml' | 'application/json'
  callsPerSecond?: number
  /** Those of the optional methods that it has. */
  methods: string[]
}

const MAX_HEADERS = 16
const MAX_TEXT_CHARS = 1_000
/** A media message is written for each 20 ms of a call. */
const MAX_TEMPLATE_CHARS = 2_000
const MAX_DOCUMENT_CHARS = 64 << 10
const OPTIONAL_METHODS = ['hangup', 'command', 'transfer'] as const
const DOCUMENT_TYPES = ['text/xml', 'application/json'] as const
const ENCODINGS = ['pcmu', 'pcma', 'pcm_s16le'] as const
const FAILURES: readonly DialFailure[] = [
  ...(['busy', 'no_answer', 'rejected', 'hung_up', 'blocked', 'invalid_number', 'canceled', 'carrier'] as const),
]
const ANSWERERS: readonly AnsweredBy[] = ['human', 'machine', 'fax', 'unknown']
const CALL_STATES: readonly CarrierCallState[] = ['live', 'ended', 'unknown']

/** How a carrier plugin describes itself, with the fields that the contract knows. Throws WrongValue. */
export function telephonyDescriptionOf(value: unknown): TelephonyDescription {
  const carrier = objectOf(value, 'The carrier')
  const { headers, callsPerSecond, methods } = carrier
  if (!Array.isArray(headers) || headers.length > MAX_HEADERS) {
    throw new WrongValue(`The carrier’s headers have to be a list of at most ${MAX_HEADERS} names`)
  }
  const isPace = typeof callsPerSecond === 'number' && callsPerSecond > 0 && callsPerSecond <= 1_000
  if (callsPerSecond !== undefined && !isPace)
    throw new WrongValue('callsPerSecond has to be a number over 0 and up to 1,000')
  const named = Array.isArray(methods)
    ? methods
    : OPTIONAL_METHODS.filter((name) => typeof carrier[name] === 'function')
  return {
    stream: streamShapeOf(carrier.stream),
    headers: headers.map((name) => textOf(name, 'a name in headers').toLowerCase()),
    documentType: oneOf(DOCUMENT_TYPES, carrier.documentType, 'documentType'),
    ...(isPace ? { callsPerSecond } : {}),
    methods: OPTIONAL_METHODS.filter((name) => named.includes(name)),
  }
}

function streamShapeOf(value: unknown): StreamShape {
  const shape = objectOf(value, 'stream')
  const format = objectOf(shape.format, 'stream.format')
  const { sampleRateHz } = format
  if (sampleRateHz !== 8_000 && sampleRateHz !== 16_000)
    throw new WrongValue('stream.format.sampleRateHz has to be 8000 or 16000')
  const encoding = oneOf(ENCODINGS, format.encoding, 'stream.format.encoding')
  if (encoding !== 'pcm_s16le' && sampleRateHz !== 8_000) throw new WrongValue(`${encoding} has 8000 samples a second`)
  const reads = objectOf(shape.reads, 'stream.reads')
  const writes = objectOf(shape.writes, 'stream.writes')
  const start = part(reads, 'start')
  const media = part(reads, 'media')
  const mark = part(reads, 'mark')
  return {
    format: { encoding, sampleRateHz },
    closingEndsCall: shape.closingEndsCall === true,
    clearReturnsMarks: shape.clearReturnsMarks === true,
    reads: {
      name: textOf(reads.name, 'stream.reads.name'),
      start: {
        ...texts(start, ['named', 'carrierId', 'token'], 'start'),
        ...optionalTexts(start, ['streamId', 'encoding'], 'start'),
      },
      media: { ...texts(media, ['named', 'payload'], 'media'), ...optionalTexts(media, ['atMs', 'track'], 'media') },
      mark: texts(mark, ['named', 'name'], 'mark'),
      ...(reads.dtmf === undefined ? {} : { dtmf: texts(part(reads, 'dtmf'), ['named', 'digit'], 'dtmf') }),
      ...(reads.stop === undefined ? {} : { stop: texts(part(reads, 'stop'), ['named'], 'stop') }),
    },
    writes: {
      media: template(writes.media, 'media', '{payload}'),
      mark: template(writes.mark, 'mark', '{name}'),
      clear: template(writes.clear, 'clear'),
    },
  }
}

const part = (reads: Fields, name: string): Fields => objectOf(reads[name], `stream.reads.${name}`)

function texts<K extends string>(from: Fields, names: readonly K[], of: string): Record<K, string> {
  return Object.fromEntries(names.map((name) => [name, textOf(from[name], `stream.reads.${of}.${name}`)])) as Record<
    K,
    string
  >
}

function optionalTexts<K extends string>(from: Fields, names: readonly K[], of: string): Partial<Record<K, string>> {
  return texts(
    from,
    names.filter((name) => from[name] !== undefined),
    of,
  )
}

function template(value: unknown, name: string, needs = ''): Fields {
  const object = objectOf(value, `stream.writes.${name}`)
  const json = JSON.stringify(object)
  if (json.length > MAX_TEMPLATE_CHARS || !json.includes(needs)) {
    const what = needs === '' ? '' : `, with ${needs} in one of its texts`
    throw new WrongValue(`stream.writes.${name} has to be an object of at most ${MAX_TEMPLATE_CHARS} characters${what}`)
  }
  return object
}

/** What a carrier’s request says, with the fields that the contract knows; undefined: nothing. Throws WrongValue. */
export function carrierNewsOf(value: unknown): CarrierNews | undefined {
  if (value === undefined || value === null) return undefined
  const news = objectOf(value, 'What read() gives')
  const text = (name: string): string => textOf(news[name], `read(): ${name}`)
  switch (news.type) {
    case 'incoming':
      return { type: 'incoming', carrierId: text('carrierId'), from: text('from'), to: text('to') }
    case 'progress':
      return { type: 'progress', callId: text('callId'), news: dialNewsOf(news.news) }
    case 'classified':
      return { type: 'classified', callId: text('callId'), by: oneOf(ANSWERERS, news.by, 'read(): by') }
    case 'picked_up':
      return { type: 'picked_up', callId: text('callId'), carrierId: text('carrierId') }
    case 'streamless':
      return { type: 'streamless', callId: text('callId') }
    case 'asks':
      return { type: 'asks', document: documentOf(news.document) }
    default:
      throw new WrongValue(
        `read() gave news of a type that the contract doesn’t know: ${String(news.type).slice(0, 60)}`,
      )
  }
}

function dialNewsOf(value: unknown): Extract<CarrierNews, { type: 'progress' }>['news'] {
  const news = objectOf(value, 'read(): news')
  const over = news.over === undefined ? undefined : objectOf(news.over, 'read(): over')
  const detail = over?.detail === undefined ? undefined : textOf(over.detail, 'read(): over.detail')
  return {
    carrierId: textOf(news.carrierId, 'read(): news.carrierId'),
    ...(news.ringing === true ? { ringing: true } : {}),
    ...(news.sent === true ? { sent: true } : {}),
    ...(over === undefined
      ? {}
      : {
          over: {
            failure: oneOf(FAILURES, over.failure, 'read(): over.failure'),
            answered: over.answered === true,
            ...(detail === undefined ? {} : { detail }),
          },
        }),
  }
}

/** An instruction for the carrier. Throws WrongValue. */
export function documentOf(value: unknown): string {
  if (typeof value === 'string' && value.length <= MAX_DOCUMENT_CHARS) return value
  throw new WrongValue(`An instruction for the carrier has to be text of at most ${MAX_DOCUMENT_CHARS} characters`)
}

/** What came of an order. Throws WrongValue. */
export function orderedOf(value: unknown): string | { invalidNumber: string } {
  if (typeof value !== 'object') return textOf(value, 'What create() gives')
  return { invalidNumber: textOf(objectOf(value, 'What create() gives').invalidNumber, 'create(): invalidNumber') }
}

/** What the carrier knows of a call. Throws WrongValue. */
export function callStateOf(value: unknown): CarrierCallState {
  return oneOf(CALL_STATES, value, 'What state() gives')
}

function textOf(value: unknown, what: string): string {
  if (typeof value === 'string' && value.length <= MAX_TEXT_CHARS) return value
  throw new WrongValue(`${what} has to be text of at most ${MAX_TEXT_CHARS} characters`)
}

function oneOf<T extends string>(known: readonly T[], value: unknown, what: string): T {
  const found = known.find((one) => one === value)
  if (found !== undefined) return found
  throw new WrongValue(`${what} has to be one of ${known.join(', ')}; it is ${String(value).slice(0, 60)}`)
}
