/** Rate of the sound that the simulated recogniser hears. */
export const SCRIPTED_RATE_HZ = 16_000
const LOUD = 400
/** The recogniser's own silence before it calls words final. */
const FINAL_AFTER_SILENCE_MS = 60
const INTERIM_EVERY_MS = 200
const TOLERANCE_MS = 80
const GIVE_UP_AFTER_SILENCE_MS = 400
const SAMPLES_PER_MS = SCRIPTED_RATE_HZ / 1000

export interface ScriptedLine {
  text: string
  durationMs: number
}

export interface SaidWords {
  text: string
  final: boolean
}

/**
 * A simulated recogniser that follows a script, round and round: it says the words of the running line as its sound passes, and
 * all of it once the sound was as long as it is and a silence follows. A sound that is no line of the script is not recognised.
 * It counts samples: how the sound is cut into packets changes nothing. Pure.
 */
export class ScriptedWords {
  readonly #script: readonly ScriptedLine[]
  #line = 0
  /** From the first loud sample of the line to the last one so far, and the silence since. */
  #voiced = 0
  #silent = 0
  #interimAt = 0

  constructor(script: readonly ScriptedLine[]) {
    this.#script = script
  }

  /** What is known with these samples. */
  push(samples: Int16Array): SaidWords[] {
    const said: SaidWords[] = []
    for (let i = 0; i < samples.length; i++) {
      const words = Math.abs(samples[i]!) > LOUD ? this.#loud() : this.#quiet()
      if (words !== undefined) said.push(words)
    }
    return said
  }

  #loud(): SaidWords | undefined {
    this.#voiced += this.#silent + 1
    this.#silent = 0
    if (this.#voiced - this.#interimAt < INTERIM_EVERY_MS * SAMPLES_PER_MS) return undefined
    this.#interimAt = this.#voiced
    const { text, durationMs } = this.#running
    const voicedMs = this.#voiced / SAMPLES_PER_MS
    const words = text.split(' ')
    const passed = Math.floor((words.length * voicedMs) / durationMs)
    if (passed === 0 || voicedMs >= durationMs + TOLERANCE_MS) return undefined
    return { text: words.slice(0, passed).join(' '), final: false }
  }

  #quiet(): SaidWords | undefined {
    if (this.#voiced === 0) return undefined
    this.#silent++
    if (this.#silent < FINAL_AFTER_SILENCE_MS * SAMPLES_PER_MS) return undefined
    const { text, durationMs } = this.#running
    if (Math.abs(durationMs - this.#voiced / SAMPLES_PER_MS) < TOLERANCE_MS) {
      this.#line++
      this.#startOver()
      return { text, final: true }
    }
    if (this.#silent > GIVE_UP_AFTER_SILENCE_MS * SAMPLES_PER_MS) this.#startOver()
    return undefined
  }

  get #running(): ScriptedLine {
    return this.#script[this.#line % this.#script.length]!
  }

  #startOver(): void {
    this.#voiced = 0
    this.#silent = 0
    this.#interimAt = 0
  }
}
