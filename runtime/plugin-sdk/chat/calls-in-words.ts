const BEGIN = '<tool_call>'
const END = '</tool_call>'
/** Characters of one call; a longer one is left out. */
const MAX_CHARACTERS = 65_536
const MAX_CALLS = 20

/** A call as it stands among the words. */
interface WrittenCall {
  name: string
  arguments: unknown
}

/**
 * Takes the tool calls out of an answer as it streams that a server without a tool parser leaves among the words, in the form of Hermes, Qwen
 * and Granite: `<tool_call>{"name": "book", "arguments": {"guests": 2}}</tool_call>`. What may be the beginning of the mark is held back.
 */
export class CallsInWords {
  /** Those that were whole, in their order. */
  readonly calls: WrittenCall[] = []
  /** There were some, whole or not. */
  found = false
  #held = ''
  #isInside = false

  push(text: string): string {
    let out = ''
    // Where the mark may begin in what was looked through before.
    let from = Math.max(0, this.#held.length - END.length)
    this.#held += text
    for (;;) {
      const mark = this.#isInside ? END : BEGIN
      const at = this.#held.indexOf(mark, from)
      from = 0
      if (at === -1) break
      const before = this.#held.slice(0, at)
      this.#held = this.#held.slice(at + mark.length)
      if (this.#isInside) this.#take(before)
      else out += before
      this.#isInside = !this.#isInside
      this.found = true
    }
    if (this.#isInside) {
      if (this.#held.length > MAX_CHARACTERS) this.#held = ` ${this.#held.slice(-END.length)}`
      return out
    }
    const keep = openMark(this.#held)
    out += this.#held.slice(0, this.#held.length - keep)
    this.#held = this.#held.slice(this.#held.length - keep)
    return out
  }

  /** What is left once the answer is over; of a call that is cut off, nothing. */
  flush(): string {
    const rest = this.#isInside ? '' : this.#held
    this.#held = ''
    return rest
  }

  #take(text: string): void {
    let written: unknown
    try {
      written = JSON.parse(text)
    } catch {
      return
    }
    for (const call of Array.isArray(written) ? written : [written]) {
      const name: unknown = call?.name
      if (typeof name === 'string' && this.calls.length < MAX_CALLS) {
        this.calls.push({ name, arguments: call.arguments ?? call.parameters ?? {} })
      }
    }
  }
}

/** Characters at the end that may be the beginning of the mark. */
function openMark(text: string): number {
  for (let length = Math.min(BEGIN.length - 1, text.length); length > 0; length--) {
    if (BEGIN.startsWith(text.slice(-length))) return length
  }
  return 0
}
