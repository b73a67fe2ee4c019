/** Digits pressed within this time of each other are one entry. */
const ENTRY_PAUSE_MS = 1500
const MAX_DIGITS = 32

/** Gathers key presses into entries: complete after a pause, at `#`, or at 32 digits. Pure: time is passed in. */
export class Keypad {
  #digits = ''
  #lastMs = 0

  /** Takes a key; returns an entry that is complete. Keys that no telephone has are passed over. */
  press(digit: string, nowMs: number): string | undefined {
    if (!/^[0-9*#A-D]$/.test(digit)) return undefined
    this.#lastMs = nowMs
    this.#digits += digit
    return digit === '#' || this.#digits.length >= MAX_DIGITS ? this.#take() : undefined
  }

  /** Call it often: an entry whose pause is over. */
  tick(nowMs: number): string | undefined {
    return this.#digits !== '' && nowMs - this.#lastMs >= ENTRY_PAUSE_MS ? this.#take() : undefined
  }

  #take(): string {
    const entry = this.#digits
    this.#digits = ''
    return entry
  }
}
