import type { tts } from '@livekit/agents'
import { renderSpeech } from '../../conversation/speaking/render-speech.ts'
import { Resampler } from '../../media/dsp/resample.ts'
import { closeInstance, type PluginRegistry } from '../../plugin/host.ts'

const RENDER_TIMEOUT_MS = 15_000
/** What a caller says in one breath, at most. */
const MAX_SPEECH_MS = 120_000
/** The voice that needs no key, and the one the recogniser without a key understands. */
const PROVIDER = 'offline'
const VOICES: Readonly<Record<string, string>> = { en: 'en-us', fr: 'fr-fr' }

/** The voice of a simulated caller. */
export class SimulatedVoice {
  readonly #source: tts.TTS

  private constructor(source: tts.TTS) {
    this.#source = source
  }

  /**
   * @param voice `provider/voice`; undefined: of this machine
   * @param language tag of what is spoken
   * @throws as the plugin registry does
   */
  static async open(
    plugins: Pick<PluginRegistry, 'create'>,
    voice: string | undefined,
    language: string,
  ): Promise<SimulatedVoice> {
    const [base = 'en'] = language.split('-')
    const at = voice?.indexOf('/') ?? -1
    const source =
      voice === undefined
        ? await plugins.create('tts', PROVIDER, { voice: VOICES[base] ?? base })
        : await plugins.create('tts', voice.slice(0, at), { voice: voice.slice(at + 1), language })
    return new SimulatedVoice(source)
  }

  /** What the words sound like at that rate. Throws what the voice throws, and after 15 s. */
  async render(text: string, rateHz: number): Promise<Int16Array> {
    const options = { what: 'Rendering what the caller says', timeoutMs: RENDER_TIMEOUT_MS, maxMs: MAX_SPEECH_MS }
    const rendered = await renderSpeech(this.#source, text, options)
    const samples = new Resampler(rendered.sampleRateHz, rateHz).push(rendered.samples)
    if (samples.length === 0) throw new Error(`The caller's voice made no sound of "${text.slice(0, 100)}"`)
    return samples
  }

  close(): Promise<void> {
    return closeInstance(this.#source)
  }
}
