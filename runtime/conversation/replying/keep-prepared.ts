import type { llm, voice } from '@livekit/agents'
import { plain } from '../languages/plain.ts'

/** What of an activity of @livekit/agents prepares answers before a turn is over. */
interface PreparesAnswers {
  agent: { chatCtx: llm.ChatContext }
  _preemptiveGeneration?: {
    info: { newTranscript: string }
    speechHandle: voice.SpeechHandle
    chatCtx: llm.ChatContext
  }
  onPreemptiveGeneration(info: { newTranscript: string }): void
}

/**
 * An answer that is being prepared stays where the final words differ from the first ones in form alone (`yes please`, `Yes, please.`):
 * the library asks again for every comma.
 */
export function keepPrepared(session: voice.AgentSession): void {
  const activity = session._activity as unknown as PreparesAnswers | undefined
  if (activity === undefined) return
  const prepare = activity.onPreemptiveGeneration.bind(activity)
  activity.onPreemptiveGeneration = (info) => {
    const prepared = activity._preemptiveGeneration
    const isSame =
      prepared !== undefined &&
      !prepared.speechHandle.interrupted &&
      plain(prepared.info.newTranscript) === plain(info.newTranscript) &&
      plain(info.newTranscript) !== '' &&
      prepared.chatCtx.isEquivalent(activity.agent.chatCtx)
    if (isSame) prepared.info = { ...prepared.info, newTranscript: info.newTranscript }
    else prepare(info)
  }
}
