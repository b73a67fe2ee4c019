import { type APIConnectOptions, tts } from '@livekit/agents'
import { FrameWriter } from '../../plugin-sdk/speech/frame-writer.ts'
import { CircuitBreaker } from '../providers/breaker.ts'
import type { Candidate, Chain } from '../providers/chain.ts'
import type { AnswerAudio } from './answer.ts'

/** The sound of one answer as a voice: it speaks what the model says, whatever text it is given. */
export class AnswerVoice extends tts.TTS {
  readonly label: string
  readonly #audio: AnswerAudio

  constructor(provider: string, audio: AnswerAudio) {
    super(audio.sampleRateHz, 1, { streaming: true })
    this.label = `${provider}.AnswerVoice`
    this.#audio = audio
  }

  override stream({ connOptions }: { connOptions?: APIConnectOptions } = {}): tts.SynthesizeStream {
    return new AnswerStream(this, this.#audio, connOptions)
  }

  override synthesize(): tts.ChunkedStream {
    throw new Error('The sound of an answer is a stream')
  }
}

class AnswerStream extends tts.SynthesizeStream {
  readonly label: string
  readonly #audio: AnswerAudio

  constructor(owner: AnswerVoice, audio: AnswerAudio, connOptions?: APIConnectOptions) {
    super(owner, connOptions)
    this.label = owner.label
    this.#audio = audio
  }

  protected override async run(): Promise<void> {
    const frames = new FrameWriter(this.queue, this.#audio.sampleRateHz)
    this.markStarted()
    for await (const samples of this.#audio.read()) {
      if (this.abortSignal.aborted) return
      frames.write(samples)
    }
    frames.end()
    if (!this.queue.closed) this.queue.put(tts.SynthesizeStream.END_OF_STREAM)
  }
}

/** The voices of one answer: its own sound, and where that breaks off the agent's voices. */
export function answerVoices(
  audio: AnswerAudio,
  model: Pick<Candidate<unknown>, 'provider' | 'identity'>,
  voices: Chain<tts.TTS>,
): Chain<tts.TTS> {
  const own: Candidate<tts.TTS> = {
    instance: new AnswerVoice(model.provider, audio),
    provider: model.provider,
    identity: model.identity,
    // Of this answer alone: whether the model is worth asking is known by its own.
    breaker: new CircuitBreaker(),
    speaksByItself: true,
  }
  return voices.behind(own)
}
