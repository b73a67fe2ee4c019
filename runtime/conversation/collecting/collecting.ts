import type { CollectItem } from '../../call/types/collect-item.ts'
import { readItem } from './read-item.ts'
import { digitsReading, phoneOf } from './read-phone.ts'
import { isPlainYes, readReply } from './read-reply.ts'
import type { Reading, ReadingContext } from './reading.ts'
import { spokenValue } from './spoken-value.ts'

/** How an item stands that is being collected. Of a secret, only the value's owner keeps it. */
export interface CollectState {
  readonly item: CollectItem
  readonly phase: 'asking' | 'confirming'
  /** How often the value was asked for. */
  readonly attempts: number
  /** A fixed step wants it: it is asked for again where the caller asks something instead. */
  readonly insists: boolean
  /** What the caller said last. */
  readonly heard: string
  readonly reading?: Reading
  /** Replies to the value read back that said neither yes, no nor another value. */
  readonly unclear: number
}

/** What came of an item. */
export type CollectResult =
  | {
      readonly status: 'collected'
      readonly value: string
      readonly confidence: number
      readonly heard: string
      readonly attempts: number
    }
  /** So many questions brought no value. */
  | { readonly status: 'gave_up'; readonly heard: string; readonly attempts: number }
  /** The caller asked something instead: the language model's to answer. */
  | { readonly status: 'not_answered'; readonly heard: string; readonly attempts: number }

export type CollectStep =
  | { readonly type: 'say'; readonly text: string; readonly state: CollectState }
  | { readonly type: 'done'; readonly result: CollectResult }

/** A pause in what is dictated is waited for so long. Callers make pauses of 1.5 s between groups. */
const DICTATION_PAUSE_MS = 1_800
/** The caller is sure to have said all. */
const COMPLETE_PAUSE_MS = 250
const MAX_UNCLEAR = 2
/** A value that the caller agreed to. */
const CONFIRMED = 0.98
/** Keyed or typed. */
const EXACT = 0.99

/** The first question. */
export function beginCollecting(item: CollectItem, { forms }: ReadingContext, insists = false) {
  const text = item.prompt ?? forms.says.ask[item.type]
  const state: CollectState = { item, phase: 'asking', attempts: 1, insists, heard: '', unclear: 0 }
  return { type: 'say', text, state } as const satisfies CollectStep
}

/** The question, or the value read back, once more: another worker goes on. */
export function repeatCollecting(state: CollectState, context: ReadingContext): CollectStep {
  const { item, phase, reading } = state
  if (phase === 'confirming' && reading !== undefined) return readBack(state, reading, context)
  return { type: 'say', text: item.prompt ?? context.forms.says.ask[item.type], state }
}

/** What follows from an answer of the caller. */
export function answerCollecting(
  state: CollectState,
  text: string,
  context: ReadingContext,
  means: 'spoken' | 'typed' = 'spoken',
): CollectStep {
  const { item, reading } = state
  const heard = { ...state, heard: text }
  if (state.phase === 'confirming' && reading !== undefined) {
    const reply = readReply(item, reading.value, text, context)
    switch (reply.type) {
      case 'confirmed':
        return collected(state, { ...reading, confidence: CONFIRMED })
      case 'corrected':
        return readBack({ ...heard, unclear: 0 }, reply.reading, context)
      case 'wrong':
        return askAgain(heard, context.forms.says.wrong)
      case 'unclear':
        if (asksBack(state, text)) return other(heard)
        if (state.unclear + 1 >= MAX_UNCLEAR) return askAgain(heard, context.forms.says.again)
        return readBack({ ...state, unclear: state.unclear + 1 }, reading, context)
    }
  }
  const read = readItem(item, text, context)
  if (read === undefined) return asksBack(state, text) ? other(heard) : askAgain(heard, context.forms.says.again)
  if (means === 'typed') return collected(heard, { ...read, confidence: EXACT })
  return item.spellBack && !item.secret ? readBack(heard, read, context) : collected(heard, read)
}

/** What follows from keys: they say what they say, and are not read back. */
export function keyCollecting(state: CollectState, keys: string, context: ReadingContext): CollectStep {
  const heard = { ...state, heard: keys }
  const value = keyedValue(state.item, keys.replace(/\D/g, ''), context)
  return value === undefined
    ? askAgain(heard, context.forms.says.again)
    : collected(heard, { value, confidence: EXACT })
}

/** Undefined: the keys are no value of the type. */
function keyedValue(item: CollectItem, digits: string, { country }: ReadingContext): string | undefined {
  switch (item.type) {
    case 'phone':
      return phoneOf(digits, false, country)?.value
    case 'digits':
      return digitsReading(digits, item)?.value
    case 'number':
      return digits === '' ? undefined : String(Number(digits))
    case 'choice':
      return item.options?.[Number(digits) - 1]
    default:
      return undefined
  }
}

/** How many keys make an entry that needs no `#`; undefined: the caller says when. */
export const keysWanted = ({ type, length }: CollectItem): number | undefined =>
  type === 'digits' ? length : undefined

/** The silence that ends an answer, in milliseconds; undefined: what is usual. */
export function collectPauseMs(state: CollectState, text: string, context: ReadingContext): number | undefined {
  if (state.phase === 'confirming') return isPlainYes(text, context.forms) ? undefined : DICTATION_PAUSE_MS
  if (state.item.type === 'free') return undefined
  const read = readItem(state.item, text, context)
  return read?.complete === true ? COMPLETE_PAUSE_MS : DICTATION_PAUSE_MS
}

function readBack(state: CollectState, reading: Reading, context: ReadingContext): CollectStep {
  const text = context.forms.says.readBack.replace('{value}', () => spokenValue(state.item, reading.value, context))
  return { type: 'say', text, state: { ...state, phase: 'confirming', reading } }
}

function askAgain({ reading: _, ...state }: CollectState, text: string): CollectStep {
  const { item, heard, attempts } = state
  if (attempts >= item.attempts) return { type: 'done', result: { status: 'gave_up', heard, attempts } }
  return { type: 'say', text, state: { ...state, phase: 'asking', attempts: attempts + 1, unclear: 0 } }
}

function collected(
  { heard, attempts }: CollectState,
  { value, confidence }: Pick<Reading, 'value' | 'confidence'>,
): CollectStep {
  return { type: 'done', result: { status: 'collected', value, confidence, heard, attempts } }
}

const other = ({ heard, attempts }: CollectState): CollectStep => ({
  type: 'done',
  result: { status: 'not_answered', heard, attempts },
})

/** The caller asks something instead of answering. */
const asksBack = ({ insists }: CollectState, text: string): boolean => !insists && /[?？]\s*$/u.test(text)
