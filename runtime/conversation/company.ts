import type { tts } from '@livekit/agents'
import type { AgentSpec } from '../link/messages.ts'
import { DeadAir } from './dead-air.ts'
import type { Fillers } from './fillers.ts'
import { languageOf } from './languages/index.ts'
import type { Mouth } from './mouth.ts'

/** Keeps a waiting caller company: when an answer is late, something is said out of turn. */
export class Company {
  readonly #deadAir = new DeadAir()
  readonly #mouth: Mouth
  readonly #fillers: Fillers
  readonly #voice: tts.TTS
  readonly #voiceKey: string
  readonly #language: string | undefined

  constructor(agent: AgentSpec, mouth: Mouth, fillers: Fillers, voice: tts.TTS) {
    this.#mouth = mouth
    this.#fillers = fillers
    this.#voice = voice
    this.#voiceKey = JSON.stringify([agent.tts.provider, agent.tts.voice, agent.language])
    this.#language = agent.language
  }

  /** The caller is owed something, from this monotonic time on. */
  waits(atMs: number): void {
    this.#deadAir.waits(atMs)
  }

  /** The caller speaks. */
  interrupted(): void {
    this.#mouth.hush()
    this.#deadAir.over()
  }

  /** Nothing is owed any more. */
  over(): void {
    this.#deadAir.over()
  }

  /** Once a tick. `thinking`: the agent is at work, whoever spoke last. */
  tick(nowMs: number, { callerSpeaks, thinking }: { callerSpeaks: boolean; thinking: boolean }): void {
    if (this.#mouth.speaking || callerSpeaks) {
      this.#deadAir.over()
      return
    }
    if (this.#mouth.interjecting) this.#deadAir.filling(nowMs)
    else if (thinking) this.#deadAir.waits(nowMs)
    const due = this.#deadAir.check(nowMs)
    if (due === undefined) return
    const { oneMoment, stillHere } = languageOf(this.#language).phrases
    if (due === 'prepare') {
      this.#fillers.prepare(this.#voiceKey, oneMoment, this.#voice)
      return
    }
    const first = this.#deadAir.filled === 1
    const { samples, sampleRateHz, text } = this.#fillers.take(this.#voiceKey, first ? oneMoment : stillHere)
    this.#mouth.interject(samples, sampleRateHz, text)
    if (first) this.#fillers.prepare(this.#voiceKey, stillHere, this.#voice)
  }
}
