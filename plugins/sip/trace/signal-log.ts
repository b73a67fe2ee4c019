import type { WireMessage } from '../../../runtime/plugin-sdk/telephony/wire-message.ts'
import type { Flow } from '../transport/flow.ts'
import { redact } from './redact.ts'

/** Of one call; beyond, the middle is left out: how it began and how it ends says most. */
const MAX_MESSAGES = 120
const KEPT_FIRST = 60
/** Calls at once, and characters of all their messages; beyond, the oldest are forgotten. */
const MAX_CALLS = 5_000
const MAX_CHARS = 64 * 1024 * 1024
/** Messages that come after the end still belong to it. */
const KEEP_MS = 40_000

interface Kept {
  messages: WireMessage[]
  /** When it may be forgotten, by the wall clock; undefined: not yet. */
  overAtMs: number | undefined
  chars: number
}

/** The messages of calls that run or just ended, by Call-ID. */
export class SignalLog {
  readonly #calls = new Map<string, Kept>()
  readonly #nowMs: () => number
  readonly #also: ((message: WireMessage, callId: string) => void) | undefined
  /** Of what is sent once more, the same bytes: it is cut and kept once. */
  readonly #texts = new WeakMap<Uint8Array, string>()
  #chars = 0
  #sweptMs = 0

  /** @param also called with every message */
  constructor(nowMs: () => number, also?: (message: WireMessage, callId: string) => void) {
    this.#nowMs = nowMs
    this.#also = also
  }

  /** A message that was sent or received. Keep-alives and registrations are no call's. */
  note(direction: 'in' | 'out', bytes: Uint8Array, flow: Flow): void {
    const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 2_048)).toString('latin1')
    const callId = /^(?:call-id|i)[ \t]*:[ \t]*(\S+)/im.exec(head)?.[1]
    if (callId === undefined) return
    const isCall = this.#calls.has(callId) || /^(?:INVITE |SIP\/2\.0 )/.test(head)
    const isNoise = /^cseq[ \t]*:[ \t]*\d+[ \t]+(?:OPTIONS|REGISTER)/im.test(head)
    // Only a call of ours or one that comes in begins a ladder: a stray response doesn't.
    const isKept = isCall && !isNoise && (this.#calls.has(callId) || head.startsWith('INVITE '))
    if (this.#also === undefined && !isKept) return
    const message: WireMessage = {
      ...{ atMs: this.#nowMs(), direction, transport: flow.protocol },
      local: { address: flow.local.host, port: flow.local.port },
      remote: { address: flow.address, port: flow.port },
      text: this.#textOf(bytes),
    }
    this.#also?.(message, callId)
    if (!isKept) return
    let kept = this.#calls.get(callId)
    if (kept === undefined) {
      this.#sweep(message.atMs)
      kept = { messages: [], overAtMs: undefined, chars: 0 }
      this.#calls.set(callId, kept)
    }
    kept.messages.push(message)
    this.#count(kept, message.text.length)
    if (kept.messages.length > MAX_MESSAGES) {
      for (const { text } of kept.messages.splice(KEPT_FIRST, 1)) this.#count(kept, -text.length)
    }
    this.#makeRoom()
  }

  #textOf(bytes: Uint8Array): string {
    const known = this.#texts.get(bytes)
    if (known !== undefined) return known
    const text = redact(bytes)
    this.#texts.set(bytes, text)
    return text
  }

  #count(kept: Kept, chars: number): void {
    kept.chars += chars
    this.#chars += chars
  }

  #makeRoom(): void {
    for (const callId of this.#calls.keys()) {
      if (this.#chars <= MAX_CHARS && this.#calls.size <= MAX_CALLS) return
      this.#forget(callId)
    }
  }

  #forget(callId: string): void {
    this.#chars -= this.#calls.get(callId)?.chars ?? 0
    this.#calls.delete(callId)
  }

  messages(callId: string): readonly WireMessage[] {
    return this.#calls.get(callId)?.messages ?? []
  }

  /** The call is over: what still comes is kept a little longer. */
  over(callId: string): void {
    const kept = this.#calls.get(callId)
    if (kept !== undefined) kept.overAtMs = this.#nowMs() + KEEP_MS
  }

  #sweep(nowMs: number): void {
    if (nowMs - this.#sweptMs < 1_000) return
    this.#sweptMs = nowMs
    for (const [callId, { overAtMs }] of this.#calls) {
      if (overAtMs !== undefined && overAtMs < nowMs) this.#forget(callId)
    }
  }
}
