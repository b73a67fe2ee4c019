const MAX_FAULTS = 5
const MAX_CHARACTERS = 300

/** What went wrong in a call, for its log: each fault once, the first few of them. */
export class Faults {
  readonly #messages: string[] = []

  add(message: string): void {
    const short = message.length > MAX_CHARACTERS ? `${message.slice(0, MAX_CHARACTERS)}…` : message
    if (this.#messages.length < MAX_FAULTS && !this.#messages.includes(short)) this.#messages.push(short)
  }

  /** The error of the call log: why the call ended, then what failed before; undefined when nothing did. */
  sum(endError: string | undefined): string | undefined {
    const others = this.#messages.filter((message) => endError === undefined || !endError.includes(message))
    const all = endError === undefined ? others : [endError, ...others]
    return all.length === 0 ? undefined : all.join('. ')
  }
}
