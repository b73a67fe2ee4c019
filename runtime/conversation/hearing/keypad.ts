/** Digits pressed within this time of each other are one entry. */
const ENTRY_PAUSE_MS = 1500
const MAX_DIGITS = 32

/** Keys that belong together. */
export interface Entry {
  digits: string
  /** The places of the keys in the call's log. */
  inputs: number[]
}

/** Gathers key presses into entries: complete after a pause, at `#`, or at 32 digits. Pure: time is passed in. */
export class Keypad {
  #digits = ''
  #inputs: number[] = []
  #lastMs = 0

  /** Takes a key, `seq` being its place in the call's log; returns an entry that is complete. */
  press(digit: string, seq: number, nowMs: number): Entry | undefined {
    this.#lastMs = nowMs
    this.#digits += digit
    this.#inputs.push(seq)
    return digit === '#' || this.#digits.length >= MAX_DIGITS ? this.#take() : undefined
  }

  /** Call it often: an entry whose pause is over. */
  tick(nowMs: number): Entry | undefined {
    return this.#digits !== '' && nowMs - this.#lastMs >= ENTRY_PAUSE_MS ? this.#take() : undefined
  }

  #take(): Entry {
    const entry = { digits: this.#digits, inputs: this.#inputs }
    this.#digits = ''
    this.#inputs = []
    return entry
  }
}
