import { type llm, stt, type tts, voice } from '@livekit/agents'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import { FLOOR_EVIDENCE_MS } from '../hearing/barge-in.ts'
import type { TurnEnd } from '../hearing/turn-end.ts'
import type { VoiceActivity } from '../hearing/voice-activity.ts'

/** No words within this time of the caller's sound: it was none, and the agent goes on where it stopped. */
const FALSE_INTERRUPTION_MS = 600
/** Replies are prepared this often at most before a turn is over; each costs tokens when the words change. */
const MAX_PREPARED_REPLIES = 4
const MAX_PREPARED_SPEECH_MS = 20_000
/** Rounds of tools in one answer. */
const MAX_TOOL_STEPS = 5
/** Retries are made below the session, by ResilientLlm and ResilientTts. */
const PROVIDER = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 8000 }
/** These end each wait themselves, and say so. The session's own limit, ten seconds, drops the answer and tells nobody. */
const NEVER_IDLE_MS = 600_000

export interface PipelineOptions {
  interruption: NonNullable<AgentSpec['interruption']>
  /** Answers may be prepared before the caller's turn is over. */
  prepares: boolean
}

/**
 * The session of @livekit/agents that joins the stages: turn-taking by our own detection, replies and their voice prepared while
 * the caller's silence is still being judged.
 */
export function createPipeline(
  providers: { llm: llm.LLM; tts: tts.TTS },
  vad: VoiceActivity,
  turnEnd: TurnEnd,
  { interruption, prepares }: PipelineOptions,
): voice.AgentSession {
  return new voice.AgentSession({
    stt: new HandledStt(),
    llm: providers.llm,
    tts: providers.tts,
    vad,
    userAwayTimeout: null,
    // Word timings travel with the audio, to SpeechOutput; text arrives as the model gives it, for every voice.
    useTtsAlignedTranscript: false,
    // Answers come without markup (agent.ts).
    ttsTextTransforms: null,
    maxToolSteps: MAX_TOOL_STEPS,
    ttsReadIdleTimeout: NEVER_IDLE_MS,
    forwardAudioIdleTimeout: NEVER_IDLE_MS,
    // The agent's echo is taken out before (runtime/media/dsp/echo.ts); the caller may interrupt from the first word.
    aecWarmupDuration: null,
    turnHandling: {
      turnDetection: turnEnd,
      // The wait is TurnEnd's: see unlikelyThreshold there.
      endpointing: { mode: 'fixed', minDelay: 0, maxDelay: 0 },
      interruption: {
        enabled: true,
        mode: 'vad',
        // Where callers may not interrupt, no sound is long enough: what is said over the agent is answered after it.
        minDuration: interruption.enabled ? FLOOR_EVIDENCE_MS[interruption.sensitivity] : Number.MAX_SAFE_INTEGER,
        minWords: 0,
        falseInterruptionTimeout: FALSE_INTERRUPTION_MS,
        resumeFalseInterruption: true,
        backchannelBoundary: null,
      },
      preemptiveGeneration: {
        enabled: prepares,
        preemptiveTts: true,
        maxSpeechDuration: MAX_PREPARED_SPEECH_MS,
        maxRetries: MAX_PREPARED_REPLIES,
      },
    },
    connOptions: {
      llmConnOptions: PROVIDER,
      ttsConnOptions: PROVIDER,
      // Failures are counted by the conversation, where something can be said to the caller.
      maxUnrecoverableErrors: Number.MAX_SAFE_INTEGER,
    },
  })
}

/** The recogniser as the session sees it: it is fed and read by Listen, and its failures are handled there. */
class HandledStt extends stt.STT {
  override label = 'patchbay.listen'

  constructor() {
    super({ streaming: true, interimResults: true })
  }

  override stream(): stt.SpeechStream {
    throw new Error('Listen reads the recogniser')
  }

  protected override async _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('Listen reads the recogniser')
  }
}
