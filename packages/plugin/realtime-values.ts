import type { RealtimeCapabilities, RealtimeFault, RealtimeServerEvent, RealtimeSession } from './realtime.ts'
import { type Fields, objectOf, WrongValue } from './values.ts'

/** Checks what a plugin's speech-to-speech functions give against the contract, in the plugin's own process. */

const MIN_RATE_HZ = 8_000
const MAX_RATE_HZ = 48_000

/** What a model can do. Throws WrongValue. */
export function realtimeCapabilitiesOf(capabilities: unknown): RealtimeCapabilities {
  const given = objectOf(capabilities, 'capabilities')
  const { inputRateHz, outputRateHz, speaks, edits, maxSessionMs } = given
  for (const rate of [inputRateHz, outputRateHz]) {
    if (Number.isInteger(rate) && Number(rate) >= MIN_RATE_HZ && Number(rate) <= MAX_RATE_HZ) continue
    throw new WrongValue(`capabilities name ${String(rate)} as a rate; it is a whole number of 8,000 to 48,000`)
  }
  if (typeof speaks !== 'boolean' || typeof edits !== 'boolean') {
    throw new WrongValue('capabilities have to say by true or false whether the model speaks and edits')
  }
  if (!(typeof maxSessionMs === 'number' && maxSessionMs >= 1_000 && Number.isFinite(maxSessionMs))) {
    throw new WrongValue('capabilities.maxSessionMs has to be a number of 1,000 or more')
  }
  return capabilities as RealtimeCapabilities
}

/** Where a session is and what is said first. Throws WrongValue. */
export function realtimeAddressOf(session: RealtimeSession): Pick<RealtimeSession, 'url' | 'headers' | 'hello'> {
  const { url, headers = {}, hello = [] } = objectOf(session, 'session()') as Partial<RealtimeSession>
  if (typeof url !== 'string' || !/^wss?:\/\//.test(url)) {
    throw new WrongValue('session() has to give a url that begins with wss:// or ws://')
  }
  if (!Object.values(objectOf(headers, 'headers')).every((value) => typeof value === 'string')) {
    throw new WrongValue('session() has to give headers whose values are text')
  }
  return { url, headers, hello: textsOf(hello, 'hello') }
}

/** Messages for the provider. Throws WrongValue. */
export function textsOf(value: unknown, what: string): readonly string[] {
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value
  throw new WrongValue(`${what} has to be an array of texts`)
}

const TEXTS: Readonly<Record<RealtimeServerEvent['type'], readonly string[]>> = {
  ready: [],
  committed: ['itemId'],
  transcribed: ['text'],
  response_started: ['responseId'],
  audio: ['responseId', 'itemId'],
  text: ['responseId', 'itemId', 'text'],
  tool_call: ['responseId', 'itemId', 'callId', 'name', 'arguments'],
  audio_done: ['responseId'],
  response_done: ['responseId', 'status'],
  response_refused: [],
  failed: [],
  going_away: [],
}

/** An event of a session. Throws WrongValue. */
export function realtimeEventOf(value: unknown): RealtimeServerEvent {
  const event = objectOf(value, 'parse()')
  const { type } = event
  const texts = Object.hasOwn(TEXTS, String(type)) ? TEXTS[type as RealtimeServerEvent['type']] : undefined
  if (texts === undefined) {
    throw new WrongValue(
      `parse() gave an event of the type ${String(type)}; types are ${Object.keys(TEXTS).join(', ')}`,
    )
  }
  for (const field of texts) {
    if (typeof event[field] !== 'string') throw new WrongValue(`parse() gave a ${type} whose ${field} is no text`)
  }
  if (type === 'audio' && !(event.bytes instanceof Uint8Array)) {
    throw new WrongValue('parse() gave an audio whose bytes are no Uint8Array')
  }
  if (type === 'transcribed') transcriptionOf(event)
  if (type === 'failed') realtimeFaultOf(event.fault)
  return value as RealtimeServerEvent
}

function transcriptionOf({ itemId, usage }: Fields): void {
  if (itemId !== undefined && typeof itemId !== 'string') {
    throw new WrongValue('parse() gave a transcribed whose itemId is no text')
  }
  if (usage === undefined) return
  const { model, seconds } = objectOf(usage, 'the usage of a transcribed')
  if (typeof model === 'string' && typeof seconds === 'number' && seconds >= 0 && Number.isFinite(seconds)) return
  throw new WrongValue(
    'the usage of a transcribed has a model that is a text and seconds that are a number of 0 or more',
  )
}

/** Throws WrongValue. */
export function realtimeFaultOf(value: unknown): RealtimeFault {
  const { status, code, message } = objectOf(value, 'a fault')
  const isText = (one: unknown): boolean => one === undefined || typeof one === 'string'
  if ((status === undefined || Number.isInteger(status)) && isText(code) && isText(message)) {
    return value as RealtimeFault
  }
  throw new WrongValue('a fault has a status that is a number, a code and a message that are texts')
}
