import type { tts } from '@livekit/agents'
import { chime } from '../../media/tones/chime.ts'
import { renderSpeech } from './render-speech.ts'

const CHIME_RATE_HZ = 16_000
const RENDER_TIMEOUT_MS = 6_000
const MAX_FILLER_MS = 6_000
const MAX_KEPT = 64

interface Filler {
  text: string
  samples: Int16Array
  sampleRateHz: number
}

/** What is heard where no voice can be had. */
const CHIME: Filler = { text: '', samples: chime(CHIME_RATE_HZ), sampleRateHz: CHIME_RATE_HZ }

/**
 * Short phrases in the agents' own voices, spoken while an answer is late. Each is synthesised once in a process, when
 * it is first about to be needed; until it is there, and when no voice can be had, two soft notes stand in.
 */
export class Fillers {
  readonly #kept = new Map<string, Filler | Promise<void>>()

  /** Begins to render the phrase, unless it is there. */
  prepare(voice: string, text: string, source: tts.TTS): void {
    const key = `${voice}\n${text}`
    if (this.#kept.has(key)) return
    const rendering = render(text, source).then(
      (filler) => {
        this.#kept.set(key, filler)
      },
      () => {
        this.#kept.delete(key)
      },
    )
    this.#kept.set(key, rendering)
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!)
  }

  take(voice: string, text: string): Filler {
    const kept = this.#kept.get(`${voice}\n${text}`)
    return kept === undefined || kept instanceof Promise ? CHIME : kept
  }
}

async function render(text: string, source: tts.TTS): Promise<Filler> {
  const options = { what: 'Rendering a filler', timeoutMs: RENDER_TIMEOUT_MS, maxMs: MAX_FILLER_MS }
  const rendered = await renderSpeech(source, text, options)
  if (rendered.samples.length === 0) throw new Error('The voice made no sound')
  return { text, ...rendered }
}
