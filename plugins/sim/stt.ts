import { randomUUID } from 'node:crypto'
import { type APIConnectOptions, type AudioBuffer, mergeFrames, normalizeLanguage, stt } from '@livekit/agents'
import type { AudioFrame } from '@livekit/rtc-node'
import { RecognitionStream } from '../../runtime/plugin-sdk/speech/recognition-stream.ts'
import type { Preparing, SpeechSignal } from '../../runtime/plugin-sdk/speech/signal.ts'
import { delay, Faults } from './fault.ts'
import { Recogniser, type RecogniserEvent } from './recogniser.ts'
import type { SttScenario } from './scenario.ts'
import type { Template } from './template.ts'

const END_SILENCE_MS = 200
const UNKNOWN: SpeechSignal = {
  type: 'unknown_sentence',
  message:
    'The simulated recogniser heard speech that is not one of its sentences; it does not understand people. Set STT_provider of the agent to a real one (docs/providers.md)',
}
/** Audio kept while the vocabulary is being rendered; the oldest is dropped. */
const MAX_WAITING_MS = 60_000

/** A speech recogniser that understands a closed vocabulary: see README.md. */
export class SimSTT extends stt.STT implements Preparing {
  readonly label = 'sim.STT'
  readonly scenario: SttScenario
  readonly faults: Faults
  readonly templates: () => Promise<Template[]>
  /** Its vocabulary is rendered, or can't be: then the stream says why. */
  readonly ready: Promise<unknown>

  constructor(scenario: SttScenario, templates: () => Promise<Template[]>) {
    super({ streaming: true, interimResults: true, alignedTranscript: false })
    this.scenario = scenario
    this.faults = new Faults(scenario.fault)
    this.templates = templates
    this.ready = templates().catch(() => undefined)
  }

  override get model(): string {
    return 'closed-vocabulary'
  }

  override get provider(): string {
    return 'sim'
  }

  protected override async _recognize(buffer: AudioBuffer): Promise<stt.SpeechEvent> {
    const frame = Array.isArray(buffer) ? mergeFrames(buffer) : buffer
    const recogniser = new Recogniser(frame.sampleRate, { endSilenceMs: this.scenario.endSilenceMs ?? END_SILENCE_MS })
    recogniser.use(await this.templates())
    const heard: Extract<RecogniserEvent, { type: 'final' }>[] = []
    const keep = (event: RecogniserEvent) => {
      if (event.type === 'final') heard.push(event)
    }
    recogniser.push(frame.data, keep)
    recogniser.flush(keep)
    return {
      type: stt.SpeechEventType.FINAL_TRANSCRIPT,
      requestId: randomUUID(),
      alternatives: [
        {
          language: normalizeLanguage(heard[0]?.language ?? 'en'),
          text: heard.map((event) => event.text).join(' '),
          startTime: (heard[0]?.startMs ?? 0) / 1000,
          endTime: (heard.at(-1)?.endMs ?? 0) / 1000,
          confidence: Math.min(1, ...heard.map((event) => event.confidence)),
        },
      ],
    }
  }

  override stream(options?: { connOptions?: APIConnectOptions }): stt.SpeechStream {
    return new SimSpeechStream(this, options?.connOptions)
  }
}

class SimSpeechStream extends RecognitionStream {
  readonly #owner: SimSTT
  #recogniser: Recogniser | undefined
  #rateHz = 0
  #templates: Template[] | undefined
  #failure: unknown
  #waiting: AudioFrame[] = []
  #waitingMs = 0
  /** Results on their way, when the scenario delays them: delivered in order. */
  #delivery: Promise<void> = Promise.resolve()

  constructor(owner: SimSTT, connOptions?: APIConnectOptions) {
    super(owner, { connOptions })
    this.#owner = owner
  }

  protected override async run(): Promise<void> {
    const limitMs = this.#owner.faults.begin()
    let heardMs = 0
    const loading = this.#load()
    for await (const item of this.input) {
      if (this.abortSignal.aborted) return
      if (this.#failure !== undefined) throw this.#failure
      if (heardMs >= limitMs) await this.#owner.faults.strike(this.abortSignal)
      if (typeof item === 'symbol') {
        await loading
        this.#recogniser?.flush((event) => this.#emit(event))
        continue
      }
      heardMs += durationMs(item)
      this.#hear(item)
    }
    if (this.abortSignal.aborted) return
    await loading
    if (this.#failure !== undefined) throw this.#failure
    this.#recogniser?.flush((event) => this.#emit(event))
    this.reportUsage()
    await this.#delivery
  }

  async #load(): Promise<void> {
    try {
      this.#templates = await this.#owner.templates()
    } catch (error) {
      this.#failure = error
      return
    }
    const waiting = this.#waiting
    this.#waiting = []
    for (const frame of waiting) this.#recognise(frame, this.#templates)
  }

  #hear(frame: AudioFrame): void {
    this.countAudio(durationMs(frame) / 1000)
    if (this.#templates) {
      this.#recognise(frame, this.#templates)
      return
    }
    this.#waiting.push(frame)
    this.#waitingMs += durationMs(frame)
    while (this.#waitingMs > MAX_WAITING_MS) {
      const dropped = this.#waiting.shift()
      this.#waitingMs -= dropped ? durationMs(dropped) : this.#waitingMs
    }
  }

  #recognise(frame: AudioFrame, templates: Template[]): void {
    if (this.abortSignal.aborted) return
    if (!this.#recogniser || this.#rateHz !== frame.sampleRate) {
      this.#rateHz = frame.sampleRate
      const { endSilenceMs = END_SILENCE_MS } = this.#owner.scenario
      this.#recogniser = new Recogniser(frame.sampleRate, { endSilenceMs })
      this.#recogniser.use(templates)
    }
    this.#recogniser.push(frame.data, (event) => this.#emit(event))
  }

  #emit(event: RecogniserEvent): void {
    const { latencyMs = 0 } = this.#owner.scenario
    if (latencyMs === 0) {
      this.#put(event)
      return
    }
    const dueMs = performance.now() + latencyMs
    this.#delivery = this.#delivery.then(async () => {
      await delay(dueMs - performance.now(), this.abortSignal)
      this.#put(event)
    })
  }

  #put(event: RecogniserEvent): void {
    const { FINAL_TRANSCRIPT, INTERIM_TRANSCRIPT } = stt.SpeechEventType
    if (event.type === 'start') this.speechStarted()
    else if (event.type === 'end') this.speechEnded(event.recognised ? undefined : UNKNOWN)
    else {
      const times = { startS: event.startMs / 1000, endS: event.endMs / 1000 }
      this.words(event.type === 'final' ? FINAL_TRANSCRIPT : INTERIM_TRANSCRIPT, { ...event, ...times })
    }
  }
}

function durationMs(frame: AudioFrame): number {
  return (frame.samplesPerChannel / frame.sampleRate) * 1000
}
