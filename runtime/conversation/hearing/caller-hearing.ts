import type { stt } from '@livekit/agents'
import type { OpenSession } from '../../call/link/messages.ts'
import type { Clock } from '../../lib/clock.ts'
import type { EchoSuppressor } from '../../media/dsp/echo.ts'
import type { Chain } from '../providers/chain.ts'
import type { LocalModels } from '../providers/models.ts'
import type { Report, Spoken, SpokenTurn } from '../stages/signal.ts'
import { isBackchannel } from './barge-in.ts'
import { isEchoOf } from './echo-words.ts'
import { endingOf, silenceOf } from './end-of-turn.ts'
import { InboundAudio } from './inbound-audio.ts'
import { type HeardEffect, Recogniser, type RecogniserEvents, type Words } from './recogniser.ts'
import type { Span } from './recognition.ts'
import { SpokenLanguage } from './spoken-language.ts'
import { listenForTones } from './tones.ts'
import { TurnEnd } from './turn-end.ts'
import { TurnSpan } from './turn-span.ts'
import { VoiceActivity } from './voice-activity.ts'

/** What the agent does meanwhile. */
interface AgentVoice {
  /** It speaks, or is about to. */
  busy(): boolean
  /** Its voice is on the line. */
  speaks(): boolean
  /** What the caller heard of it last. */
  said(): string
}

interface CallerHearingEvents {
  report(report: Report): void
  /** Words so far. */
  words(text: string): void
  /** An answer to the words so far is worth preparing, or not yet. */
  prepares(on: boolean): void
  /** The caller speaks this language from now on. */
  language(tag: string): void
  /** No more is heard of the caller. */
  unheard(): void
  failed(error: unknown): void
}

interface CallerHearingOptions {
  open: OpenSession
  chain: Chain<stt.STT>
  models: LocalModels
  clock: Clock
  echo: EchoSuppressor
  /** Silence that ends every turn of the caller's; undefined: by their words. */
  fixedSilenceMs: number | undefined
  agent: AgentVoice
  /** See TurnEnd. */
  dictationPauseMs(words: string): number | undefined
  events: CallerHearingEvents
  signal: AbortSignal
}

/** The caller, as a conversation hears them: their sound, voice, words, language and the ends of their turns. */
export class CallerHearing {
  readonly inbound: InboundAudio
  readonly voice: VoiceActivity
  readonly turnEnd: TurnEnd
  readonly recogniser: Recogniser
  readonly spoken: SpokenLanguage
  readonly #options: CallerHearingOptions
  readonly #turn = new TurnSpan()
  /** What the caller's last words were in, as far as it is known. */
  #turnLanguage: string | undefined

  constructor(options: CallerHearingOptions) {
    this.#options = options
    const { open, chain, models, clock, fixedSilenceMs, agent, signal } = options
    this.spoken = new SpokenLanguage(open.agent.language, open.agent)
    for (const { role, text } of open.resume?.turns ?? []) if (role === 'user') this.spoken.heard(text, undefined)
    this.inbound = new InboundAudio(clock)
    this.voice = new VoiceActivity(this.inbound, models, clock, {
      speechStarted: (startMs) => this.#speechStarted(startMs),
      contested: () => agent.busy(),
      speechEnded: (endMs) => this.#speechEnded(endMs),
    })
    this.recogniser = new Recogniser({
      chain,
      inbound: this.inbound,
      voice: this.voice,
      clock,
      events: this.#recognised(),
      signal,
    })
    this.turnEnd = new TurnEnd({
      inbound: this.inbound,
      voice: this.voice,
      clock,
      endingOf: (words, circumstances) => endingOf(words, circumstances, this.spoken.language),
      dictationPauseMs: (words) => options.dictationPauseMs(words),
      silenceMs: (ending) => fixedSilenceMs ?? silenceOf(ending, open.agent.endpointing),
      words: this.recogniser,
    })
  }

  /** Reports beeps of answering machines and faxes until the returned function is called. */
  listenForTones(): () => void {
    const { report } = this.#options.events
    return listenForTones(this.inbound, (type, atMs) => report({ type, atMs }))
  }

  /** The caller's spoken turn is over; the next one begins with the next words. `groups`: its text, with commas where they paused. */
  takeTurn(text: string): { turn: SpokenTurn; groups: string } {
    const { heardMs } = this.inbound
    const { groups, ...span } = this.#turn.take() ?? { startMs: heardMs, endMs: heardMs, groups: text }
    const turn = { text, ...this.#arrived(span), ...inLanguage(this.#turnLanguage) }
    const isSame = groups.replaceAll(',', '') === text.replaceAll(',', '')
    return { turn, groups: isSame ? groups : text }
  }

  /** Words so far were answered otherwise: they are of no turn. */
  dropTurn(): void {
    this.#turn.take()
  }

  #speechStarted(startMs: number): void {
    // VAD windows are 32 ms: refine the onset from the signal's energy.
    const edgeMs = this.inbound.loudStretches.beginning(startMs) ?? startMs
    this.#turn.speechStarted(edgeMs)
    this.turnEnd.speechStarted(edgeMs)
    this.recogniser.speechStarted(edgeMs)
    this.#options.events.report({ type: 'speech_started', atMs: this.inbound.arrivedMs(startMs) })
  }

  #speechEnded(endMs: number): void {
    // The model's window ends up to 64 ms after the last sound; the sound itself says when, unless the line is noisy.
    const edgeMs = this.inbound.loudStretches.end(endMs) ?? endMs
    const atMs = this.inbound.arrivedMs(edgeMs)
    this.#turn.speechEnded(edgeMs)
    this.turnEnd.speechEnded(edgeMs, atMs)
    this.#options.events.report({ type: 'speech_ended', atMs })
    this.recogniser.speechEnded(edgeMs)
  }

  /** A span of the caller's audio as the stages have it. */
  #arrived({ startMs, endMs }: Span): Spoken {
    const at = { startMs: this.inbound.arrivedMs(startMs), endMs: this.inbound.arrivedMs(endMs) }
    const [from, to] = [this.#place(startMs), this.#place(endMs)]
    return from === undefined || to === undefined ? at : { ...at, sound: { from, to } }
  }

  /** Which sample of the caller's, by their timestamps. */
  #place(ms: number): number | undefined {
    const soundMs = this.inbound.soundMs(ms)
    return soundMs === undefined ? undefined : Math.round((soundMs * this.#options.open.format.sampleRateHz) / 1000)
  }

  /** What the recogniser says, with the times of the sound. */
  #recognised(): RecogniserEvents {
    const { open, agent, echo, events } = this.#options
    return {
      agentSpeaks: () => agent.speaks(),
      isEcho: (text) => {
        const isEcho = echo.mayEcho && isEchoOf(text, agent.said())
        if (isEcho) echo.doubt()
        return isEcho
      },
      isOverSpeech: (text) => open.agent.interruption?.enabled === false || isBackchannel(text, this.spoken.language),
      happened: (effect, words) => this.#happened(effect, words),
      prepares: (on) => events.prepares(on),
      failed: () => events.unheard(),
    }
  }

  #happened(effect: HeardEffect, words: Words | undefined): void {
    const { echo, events } = this.#options
    const { report } = events
    switch (effect.type) {
      case 'words':
        if (words !== undefined) this.#heard(words, effect.span)
        return
      case 'over_speech':
        if (words !== undefined)
          report({
            type: 'over_speech',
            text: words.text,
            ...this.#arrived(effect.span),
            ...inLanguage(words.language),
          })
        return
      case 'overdue':
        report({ type: 'words_overdue', endMs: this.inbound.arrivedMs(effect.endMs) })
        return
      case 'noise':
        echo.doubt()
        report({ type: 'noise' })
        return
      case 'no_words':
        echo.doubt()
        report({ ...effect, ...this.#arrived(effect) })
        return
      case 'unavailable':
        report({ type: 'stt_unavailable', sinceMs: effect.sinceMs })
    }
  }

  #heard({ text, final, language, endsTurn, untilMs }: Words, span: Span): void {
    if (final) this.#turn.words(span, untilMs, text)
    if (endsTurn) this.turnEnd.turnEnded(span.endMs)
    this.#options.events.words(text)
    this.#turnLanguage = final ? this.#speaks(text, language) : language
    const spoken = { ...this.#arrived(span), ...inLanguage(this.#turnLanguage) }
    this.#options.events.report({ type: 'heard_words', text, final, ...spoken })
  }

  /** Final words are in this language, as far as it is known: with `multi` the agent goes on in it. */
  #speaks(text: string, named: string | undefined): string | undefined {
    const followed = this.spoken.heard(text, named)
    if (followed !== undefined) this.#options.events.language(this.spoken.tag)
    return followed ?? named
  }
}

const inLanguage = (language: string | undefined) => (language === undefined ? {} : { language })
