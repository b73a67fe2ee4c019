import { setTimeout as pause } from 'node:timers/promises'
import { ESPEAK_SAMPLE_RATE_HZ, espeakEach, type Spawn } from '../../runtime/plugin-sdk/speech/espeak.ts'
import { makeTemplate, type Template } from './template.ts'

/** Templates kept for later sessions; the oldest goes first. About 25 KB each. */
const MAX_KEPT = 2_000
/** Spoken in one run: some seconds of sound each, and a fraction of a second for all. */
const MOST_AT_ONCE = 40

/** Renders utterances with espeak-ng and keeps what they sound like, for all sessions of the process. */
export class Vocabulary {
  readonly #spawn: Spawn
  readonly #signal: AbortSignal
  readonly #templates = new Map<string, Promise<Template | undefined>>()
  /** Renderings under way, each behind the one before: a voice worker has better things to do than all at once. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(spawn: Spawn, signal: AbortSignal) {
    this.#spawn = spawn
    this.#signal = signal
  }

  /** The templates of every utterance in every voice. @throws PatchbayError of espeak-ng */
  async templates(utterances: readonly string[], voices: readonly string[]): Promise<Template[]> {
    const texts = [...new Set(utterances)]
    const found = await Promise.all(voices.flatMap((voice) => this.#ofVoice(texts, voice)))
    return found.filter((template) => template !== undefined)
  }

  #ofVoice(texts: readonly string[], voice: string): Promise<Template | undefined>[] {
    const missing = texts.filter((text) => !this.#templates.has(keyOf(text, voice)))
    for (let at = 0; at < missing.length; at += MOST_AT_ONCE) this.#make(missing.slice(at, at + MOST_AT_ONCE), voice)
    const templates = texts.map((text) => this.#templates.get(keyOf(text, voice))!)
    for (const [oldest] of this.#templates) {
      if (this.#templates.size <= MAX_KEPT) break
      this.#templates.delete(oldest)
    }
    return templates
  }

  #make(texts: readonly string[], voice: string): void {
    const made = this.#last.then(() => this.#render(texts, voice))
    this.#last = made.catch(() => {})
    for (const [i, text] of texts.entries()) {
      const key = keyOf(text, voice)
      const one = made.then((templates) => templates[i])
      this.#templates.set(key, one)
      one.catch(() => this.#templates.delete(key))
    }
  }

  async #render(texts: readonly string[], voice: string): Promise<(Template | undefined)[]> {
    const each = await espeakEach(this.#spawn, texts, { voice, trimEnd: true }, this.#signal)
    const templates: (Template | undefined)[] = []
    for (const [i, samples] of each.entries()) {
      templates.push(makeTemplate(texts[i]!, samples, ESPEAK_SAMPLE_RATE_HZ, voice.split(/[-+]/)[0]))
      // Measuring takes some milliseconds: let the audio of running sessions pass in between.
      await pause(0)
    }
    return templates
  }
}

const keyOf = (text: string, voice: string): string => `${voice}\n${text}`
