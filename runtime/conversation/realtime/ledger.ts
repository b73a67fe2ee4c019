import type { llm } from '@livekit/agents'
import type { RealtimeClientEvent as ClientEvent, RealtimeItem } from '../../../packages/plugin/realtime.ts'
import { wholeToolArguments } from '../../plugin-sdk/chat/tool-arguments.ts'

/** In `extra` of the agent's messages: the item of the session that it is, and how much of its sound the caller heard. */
export const SESSION_ITEM = 'realtime_item'
export const HEARD_MS = 'heard_ms'
/** In `extra` of the caller's messages that were not spoken. */
export const TYPED = 'typed'

/** One thing the session holds. */
interface Held {
  id: string
  kind: 'text' | 'caller_audio' | 'answer' | 'call' | 'output'
  /** The message of the conversation that it is; of a tool's call its name. */
  chatId?: string | undefined
  /** Of an answer: its sound so far, and what was left of it. */
  audio?: { readonly lengthMs: number } | undefined
  keptMs?: number
  /** It came of a response that nobody wanted when it began. */
  isUnwanted?: boolean
  /** Of sound of the caller: an item of the conversation since it was asked about; or of a turn that was answered otherwise. */
  isSettled?: boolean
  isForgotten?: boolean
  /** Of sound of the caller: the message of the conversation that it is, and its words as the session has them. */
  message?: llm.ChatMessage | undefined
  words?: string
}

/** A message of the caller's in the session's words. */
export interface TranscribedMessage {
  readonly message: llm.ChatMessage
  readonly words: string
}

const UNFINISHED = 'The call was not finished.'
const unfinished = (callId: string): string => `${callId}/unfinished`

/**
 * What a session holds of the conversation, which is the truth: before each answer the session is brought up to it. What the caller
 * did not hear is cut off or deleted, what was said or done beside the session is added, and the result of each call follows
 * the call. Pure.
 */
export class SessionLedger {
  readonly #edits: boolean
  readonly #held: Held[] = []
  /** The session's own calls that wait for their results. */
  readonly #openCalls = new Set<string>()
  /** Messages whose sound was committed; the session has not named its item yet. */
  readonly #committing: Held[] = []
  /** Taken back while more of them may come. */
  readonly #deleted = new Set<string>()
  #created = 0

  /** @param edits what the session holds can be cut and deleted */
  constructor(edits: boolean) {
    this.#edits = edits
  }

  get hasOpenCalls(): boolean {
    return this.#openCalls.size > 0
  }

  /** The sound of the caller that was committed last is this item. */
  committed(itemId: string): void {
    const held = this.#committing.shift()
    if (held === undefined) this.#held.push({ id: itemId, kind: 'caller_audio' })
    else held.id = itemId
    // Given up before it had a name.
    if (held?.isForgotten === true && !this.#held.includes(held)) this.#held.push(held)
  }

  /**
   * The session's words of what the caller said in an item, or in the sound that was committed last.
   * @returns undefined where it is of no message, or has no words
   */
  transcribed(itemId: string | undefined, words: string): TranscribedMessage | undefined {
    const sound = this.#held.filter(({ kind }) => kind === 'caller_audio')
    const held = itemId === undefined ? sound.at(-1) : sound.find(({ id }) => id === itemId)
    if (held === undefined) return undefined
    held.words = words
    const { message } = held
    const parts = sound.filter((one) => one.message === message && one.words).map((one) => one.words)
    return message === undefined || parts.length === 0 ? undefined : { message, words: parts.join(' ') }
  }

  /** The turn that was heard last is answered otherwise: sound of it that was asked about in vain is of no turn. */
  forgetTurn(): void {
    for (const held of this.#held) if (held.kind === 'caller_audio' && held.isSettled !== true) held.isForgotten = true
  }

  answered(itemId: string, audio: Held['audio']): void {
    if (this.#isNew(itemId)) this.#held.push({ id: itemId, kind: 'answer', audio })
  }

  called(itemId: string, callId: string): void {
    if (!this.#isNew(itemId)) return
    this.#held.push({ id: itemId, kind: 'call', chatId: callId })
    this.#openCalls.add(callId)
  }

  /** A part of a response that was given up before anything of it came. */
  unwanted(itemId: string): void {
    if (this.#isNew(itemId)) this.#held.push({ id: itemId, kind: 'answer', isUnwanted: true })
  }

  /** What the session is to be told once a response is over: nothing more of it comes. */
  responseOver(): ClientEvent[] {
    const events = this.#held.filter(({ isUnwanted }) => isUnwanted).flatMap((held) => this.#delete(held))
    this.#deleted.clear()
    return this.#edits ? events : []
  }

  /** A call that nobody carries out, and the conversation knows nothing of. */
  refuse(callId: string, name: string, reason: string): ClientEvent[] {
    const call = this.#held.find(({ chatId }) => chatId === callId)
    if (call !== undefined) call.chatId = undefined
    return this.#output(undefined, callId, name, reason)
  }

  /**
   * What the session is to be told before it answers.
   * @param callerSpoke its buffer holds sound of the caller that no item has yet
   * @returns undefined where it can't be brought up to it
   */
  bringUp(items: readonly llm.ChatItem[], callerSpoke: boolean): ClientEvent[] | undefined {
    const open = new Set(this.#openCalls)
    const events = this.#drop(items)
    const last = items.findLast((item) => item.type === 'message' && item.role === 'user')
    for (const [i, item] of items.entries()) {
      if (i === 0 && isInstructions(item)) continue
      events.push(...this.#add(item, item === last && callerSpoke, items.slice(i + 1)))
    }
    return this.#edits || isInOrder(events, open) ? events : undefined
  }

  /** What the conversation has not, or not so. */
  #drop(items: readonly llm.ChatItem[]): ClientEvent[] {
    const known = new Map<string, llm.ChatItem>()
    const answers = new Map<string, llm.ChatMessage>()
    for (const item of items) {
      known.set(item.id, item)
      if (item.type === 'function_call') known.set(item.callId, item).set(unfinished(item.callId), item)
      const answer = item.type === 'message' ? item.extra[SESSION_ITEM] : undefined
      if (typeof answer === 'string') answers.set(answer, item as llm.ChatMessage)
    }
    const events: ClientEvent[] = []
    for (const held of [...this.#held]) {
      if (held.kind === 'caller_audio') {
        if (held.chatId !== undefined && known.has(held.chatId))
          Object.assign(held, { isSettled: true, isForgotten: false })
        else if (held.isSettled === true || held.isForgotten === true) events.push(...this.#delete(held))
        // An answer that was prepared in vain: the sound belongs to the turn that goes on.
        else Object.assign(held, { chatId: undefined, message: undefined })
      } else if (held.kind === 'answer') {
        const message = answers.get(held.id)
        if (message === undefined) events.push(...this.#delete(held))
        else events.push(...this.#cut(held, message))
      } else if (held.chatId !== undefined && !known.has(held.chatId)) events.push(...this.#delete(held))
    }
    return events
  }

  #delete(held: Held): ClientEvent[] {
    this.#held.splice(this.#held.indexOf(held), 1)
    // What a session that can't forget was told besides, such as a note for one answer, does no harm.
    const isHarmless = held.kind !== 'answer' && held.isForgotten !== true && !this.#openCalls.has(held.chatId ?? '')
    if (!this.#edits && isHarmless) return []
    if (held.id === '') return []
    this.#deleted.add(held.id)
    return [{ type: 'delete', itemId: held.id }]
  }

  /** The caller cut in: the session forgets what was not heard. */
  #cut(held: Held, message: llm.ChatMessage): ClientEvent[] {
    held.chatId = message.id
    const heardMs = message.extra[HEARD_MS]
    if (!message.interrupted || typeof heardMs !== 'number' || held.keptMs !== undefined) return []
    const lengthMs = Math.floor(held.audio?.lengthMs ?? 0)
    const endMs = Math.floor(heardMs)
    held.keptMs = endMs
    // Of text there is nothing to cut: what was heard takes its place.
    if (endMs <= 0 || lengthMs === 0)
      return [...this.#delete(held), ...this.#create(message.id, textItem(message, this.#name()))]
    if (!this.#edits && endMs >= lengthMs) return []
    // Also where all that came was heard: of an answer that was cancelled the session may hold more.
    return [{ type: 'truncate', itemId: held.id, endMs: Math.min(endMs, lengthMs) }]
  }

  #add(item: llm.ChatItem, isSpoken: boolean, later: readonly llm.ChatItem[]): ClientEvent[] {
    switch (item.type) {
      case 'message':
        return this.#addMessage(item, isSpoken)
      case 'function_call': {
        const { callId, name } = item
        const args = argumentsOf(item.args)
        const call: RealtimeItem = { type: 'function_call', id: this.#name(), callId, name, arguments: args }
        const created = this.#has(callId) ? [] : this.#create(callId, call, 'call')
        const isAnswered = later.some((next) => next.type === 'function_call_output' && next.callId === callId)
        // A call without a result, such as hanging up, is closed before anything else is said.
        if (isAnswered || later.length === 0) return created
        return [...created, ...this.#output(unfinished(callId), callId, name, UNFINISHED)]
      }
      case 'function_call_output':
        return this.#output(item.id, item.callId, item.name, item.output)
      default:
        return []
    }
  }

  #addMessage(message: llm.ChatMessage, isSpoken: boolean): ClientEvent[] {
    if (this.#has(message.id)) return []
    if (message.role === 'user' && message.extra[TYPED] === undefined) {
      const unclaimed = this.#held.filter(({ kind, chatId }) => kind === 'caller_audio' && chatId === undefined)
      if (isSpoken || unclaimed.length > 0) {
        for (const held of unclaimed) Object.assign(held, { chatId: message.id, message })
        if (!isSpoken) return []
        const held: Held = { id: '', kind: 'caller_audio', chatId: message.id, message }
        this.#held.push(held)
        this.#committing.push(held)
        return [{ type: 'commit' }]
      }
    }
    return (message.textContent ?? '').trim() === '' ? [] : this.#create(message.id, textItem(message, this.#name()))
  }

  #output(chatId: string | undefined, callId: string, name: string, output: string): ClientEvent[] {
    if (chatId !== undefined && this.#has(chatId)) return []
    this.#openCalls.delete(callId)
    return this.#create(chatId, { type: 'function_call_output', id: this.#name(), callId, name, output }, 'output')
  }

  #isNew(itemId: string): boolean {
    return !this.#deleted.has(itemId) && !this.#held.some(({ id }) => id === itemId)
  }

  #has(chatId: string): boolean {
    return this.#held.some((held) => held.chatId === chatId)
  }

  #create(chatId: string | undefined, item: RealtimeItem, kind: Held['kind'] = 'text'): ClientEvent[] {
    this.#held.push({ id: item.id, kind, chatId })
    return [{ type: 'create', item }]
  }

  #name(): string {
    return `patchbay_${++this.#created}`
  }
}

/** It takes nothing back, and gives a call that the session waits for its result alone: anything else would end the call. */
function isInOrder(events: readonly ClientEvent[], open: ReadonlySet<string>): boolean {
  const created = events.flatMap((event) => (event.type === 'create' ? [event.item] : []))
  const results = created.filter((item) => item.type === 'function_call_output' && open.has(item.callId))
  const others = events.length - results.length
  return !events.some(({ type }) => type === 'delete' || type === 'truncate') && (results.length === 0 || others === 0)
}

export function isInstructions(item: llm.ChatItem | undefined): item is llm.ChatMessage {
  return item?.type === 'message' && (item.role === 'system' || item.role === 'developer')
}

function textItem({ role, textContent = '' }: llm.ChatMessage, id: string): RealtimeItem {
  return { type: 'message', id, role: role === 'developer' ? 'system' : role, text: textContent }
}

/** As a JSON object, also where a model encoded it twice or put it into a fence. */
export function argumentsOf(text: string): string {
  const whole = wholeToolArguments(text) ?? text
  try {
    const value: unknown = JSON.parse(whole)
    return typeof value === 'string' ? argumentsOf(value) : whole
  } catch {
    return whole
  }
}
