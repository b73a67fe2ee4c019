import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { builtInVariables, type CallFacts } from '../../runtime/conversation/built-in-variables.ts'
import {
  fillVariables,
  MAX_PROMPT_BYTES,
  MAX_SPOKEN_BYTES,
  type Variables,
} from '../../runtime/conversation/variables.ts'
import { isOwnTool, type Tool, toolSpec } from '../../runtime/tools/tool.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import { type FallbacksInput, fallbacksSpec } from '../agents/fallbacks.ts'
import { speechSpec } from '../agents/speech.ts'

/** What is known of the call. */
export interface SpecFacts extends Omit<CallFacts, 'language' | 'timeZone' | 'agentName'> {
  /** We call: an answering machine may pick up. */
  dialled?: boolean
}

/**
 * The agent as a conversation needs it, for one call or chat.
 *
 * @throws PatchbayError agent_text_too_long
 */
export function agentSpec(
  agent: ServedAgent,
  variables: Variables,
  hasKnowledge: boolean,
  { dialled = false, ...facts }: SpecFacts,
): AgentSpec {
  const { language, timezone: timeZone, agent_name: agentName } = agent
  const values = { ...builtInVariables({ ...facts, language, timeZone, agentName }), ...variables }
  const spoken = (field: keyof ServedAgent & string, text: string): string =>
    fillVariables(text, values, { field, maxBytes: MAX_SPOKEN_BYTES })
  return {
    agentId: agent.id,
    agentName: agent.agent_name,
    systemPrompt: fillVariables(agent.system_prompt, values, { field: 'system_prompt', maxBytes: MAX_PROMPT_BYTES }),
    firstMessage: spoken('first_message', agent.first_message),
    temperature: agent.temperature,
    llm: { provider: agent.llm_provider, model: agent.llm_model },
    stt: { provider: agent.stt_provider, model: agent.stt_model },
    tts: { provider: agent.tts_provider, voice: agent.tts_voice },
    ...speechSpec(agent),
    hasKnowledge,
    fallbacks: fallbacksSpec(agent.fallbacks as FallbacksInput),
    tools: (agent.tools as unknown as Tool[]).filter(isOwnTool).map(toolSpec),
    ...(agent.recording_notice === '' ? {} : { recordingNotice: spoken('recording_notice', agent.recording_notice) }),
    ...(agent.consent_message === '' ? {} : { consentMessage: spoken('consent_message', agent.consent_message) }),
    ...(dialled
      ? {
          voicemail: {
            behaviour: agent.voicemail,
            message: spoken('voicemail_message', agent.voicemail_message),
          },
        }
      : {}),
  }
}
