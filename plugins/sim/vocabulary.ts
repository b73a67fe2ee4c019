import { setTimeout as pause } from 'node:timers/promises'
import { ESPEAK_SAMPLE_RATE_HZ, espeak, type Spawn } from '../../runtime/speech/espeak.ts'
import { makeTemplate, type Template } from './template.ts'

/** Templates kept for later sessions; the oldest goes first. About 25 KB each. */
const MAX_KEPT = 2_000
/** One program speaks while the rendering of another is measured. */
const LANES = 2

/** Renders utterances with espeak-ng and keeps what they sound like, for all sessions of the process. */
export class Vocabulary {
  readonly #spawn: Spawn
  readonly #signal: AbortSignal
  readonly #templates = new Map<string, Promise<Template | undefined>>()
  /** Renderings under way, each behind the one before: a voice worker has better things to do than all at once. */
  readonly #lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve())
  #lane = 0

  constructor(spawn: Spawn, signal: AbortSignal) {
    this.#spawn = spawn
    this.#signal = signal
  }

  /** The templates of every utterance in every voice. @throws PatchbayError of espeak-ng */
  async templates(utterances: readonly string[], voices: readonly string[]): Promise<Template[]> {
    const wanted = voices.flatMap((voice) => [...new Set(utterances)].map((text) => this.#template(text, voice)))
    const found = await Promise.all(wanted)
    return found.filter((template) => template !== undefined)
  }

  #template(text: string, voice: string): Promise<Template | undefined> {
    const key = `${voice}\n${text}`
    const known = this.#templates.get(key)
    if (known) return known
    this.#lane = (this.#lane + 1) % LANES
    const made = (this.#lanes[this.#lane] ?? Promise.resolve()).then(() => this.#render(text, voice))
    this.#lanes[this.#lane] = made.catch(() => {})
    this.#templates.set(key, made)
    made.catch(() => this.#templates.delete(key))
    const oldest = this.#templates.keys().next()
    if (this.#templates.size > MAX_KEPT && !oldest.done) this.#templates.delete(oldest.value)
    return made
  }

  async #render(text: string, voice: string): Promise<Template | undefined> {
    const parts: Int16Array[] = []
    for await (const part of espeak(this.#spawn, text, { voice, trimEnd: true }, this.#signal)) parts.push(part)
    const samples = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0))
    let offset = 0
    for (const part of parts) {
      samples.set(part, offset)
      offset += part.length
    }
    const template = makeTemplate(text, samples, ESPEAK_SAMPLE_RATE_HZ, voice.split(/[-+]/)[0])
    // Measuring takes some milliseconds: let the audio of running sessions pass in between.
    await pause(0)
    return template
  }
}
