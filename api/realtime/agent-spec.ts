import { fillVariables } from '../../runtime/conversation/variables.ts'
import type { AgentSpec } from '../../runtime/link/messages.ts'
import { isOwnTool, type Tool, toolSpec } from '../../runtime/tools/tool.ts'
import type { ServedAgent } from '../../store/served-agents.ts'
import { type FallbacksInput, fallbacksSpec } from '../agents/fallbacks.ts'
import { speechSpec } from '../agents/speech.ts'

/** The agent as a conversation needs it, for one call or chat. */
export function agentSpec(
  agent: ServedAgent,
  variables: Readonly<Record<string, string>>,
  hasKnowledge: boolean,
  /** We call: an answering machine may pick up. */
  dialled = false,
): AgentSpec {
  return {
    agentId: agent.id,
    agentName: agent.agent_name,
    systemPrompt: fillVariables(agent.system_prompt, variables),
    firstMessage: fillVariables(agent.first_message, variables),
    temperature: agent.temperature,
    llm: { provider: agent.llm_provider, model: agent.llm_model },
    stt: { provider: agent.stt_provider, model: agent.stt_model },
    tts: { provider: agent.tts_provider, voice: agent.tts_voice },
    ...speechSpec(agent),
    hasKnowledge,
    fallbacks: fallbacksSpec(agent.fallbacks as FallbacksInput),
    tools: (agent.tools as unknown as Tool[]).filter(isOwnTool).map(toolSpec),
    ...(agent.recording_notice === '' ? {} : { recordingNotice: fillVariables(agent.recording_notice, variables) }),
    ...(agent.consent_message === '' ? {} : { consentMessage: fillVariables(agent.consent_message, variables) }),
    ...(dialled
      ? {
          voicemail: {
            behaviour: agent.voicemail,
            message: fillVariables(agent.voicemail_message, variables),
          },
        }
      : {}),
  }
}
