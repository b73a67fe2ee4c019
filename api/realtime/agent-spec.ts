import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { builtInVariables, type CallFacts } from '../../runtime/conversation/built-in-variables.ts'
import { languageOf } from '../../runtime/conversation/languages/index.ts'
import { plain } from '../../runtime/conversation/languages/plain.ts'
import {
  fillVariables,
  MAX_PROMPT_BYTES,
  MAX_SPOKEN_BYTES,
  namesWithoutValue,
  type Variables,
} from '../../runtime/conversation/variables.ts'
import { disclosureOf } from '../../runtime/dialing/ai-disclosure.ts'
import { MAX_VARIABLES } from '../../runtime/lib/variable-bounds.ts'
import { isOwnTool, type Tool, toolSpec } from '../../runtime/tools/tool.ts'
import type { ServedAgent } from '../../store/agents/served-agents.ts'
import { collectSpec } from '../agents/collect.ts'
import { type FallbacksInput, fallbacksSpec } from '../agents/fallbacks.ts'
import { proceduresSpec } from '../agents/procedures.ts'
import { speechSpec } from '../agents/speech.ts'

/** What is known of the call. */
interface SpecFacts extends Omit<CallFacts, 'language' | 'timeZone' | 'agentName'> {
  /** We call: an answering machine may pick up. */
  readonly dialled?: boolean
  /** Whose countries decide whether the agent says that it is an AI; default: caller and callee. */
  readonly numbers?: readonly string[]
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
  { dialled = false, numbers, ...facts }: SpecFacts,
): AgentSpec {
  const { language, timezone: timeZone, agent_name: agentName } = agent
  const values = { ...builtInVariables({ ...facts, language, timeZone, agentName }), ...variables }
  const leftOut = new Set<string>()
  const fill = (field: keyof ServedAgent & string, text: string, maxBytes: number): string => {
    for (const name of namesWithoutValue([text], values)) leftOut.add(name)
    return fillVariables(text, values, { field, maxBytes })
  }
  const spoken = (field: keyof ServedAgent & string, text: string) => fill(field, text, MAX_SPOKEN_BYTES)
  const firstMessage = spoken('first_message', agent.first_message)
  const theirs = facts.direction === 'outbound' ? facts.calledNumber : facts.callerNumber
  const ofCall = [facts.callerNumber, facts.calledNumber].filter((number) => typeof number === 'string')
  const aiDisclosure = disclosureOf(agent.ai_disclosure, {
    numbers: numbers ?? ofCall,
    alreadySays: languageOf(agent.language).saysAi.test(plain(firstMessage)),
  })
  const procedures = proceduresSpec(agent.procedures, (text) => fill('procedures', text, MAX_PROMPT_BYTES))
  const spec: AgentSpec = {
    agentId: agent.id,
    agentName: agent.agent_name,
    workspaceId: agent.workspace_id,
    ...(agent.agent_version === null ? {} : { agentVersion: agent.agent_version }),
    ...(agent.rollout_id === null ? {} : { rolloutId: agent.rollout_id }),
    systemPrompt: fill('system_prompt', agent.system_prompt, MAX_PROMPT_BYTES),
    firstMessage,
    temperature: agent.temperature,
    llm: { provider: agent.llm_provider, model: agent.llm_model },
    stt: { provider: agent.stt_provider, model: agent.stt_model },
    tts: { provider: agent.tts_provider, voice: agent.tts_voice },
    ...speechSpec(agent),
    ...collectSpec(agent),
    ...(timeZone === '' ? {} : { timeZone }),
    ...(theirs ? { callerNumber: theirs } : {}),
    ...(aiDisclosure === undefined ? {} : { aiDisclosure }),
    hasKnowledge,
    fallbacks: fallbacksSpec(agent.fallbacks as FallbacksInput),
    tools: [
      ...(agent.tools as unknown as Tool[])
        .filter(isOwnTool)
        .map(toolSpec)
        .map((tool) => (tool.says === undefined ? tool : { ...tool, says: spoken('tools', tool.says) })),
      ...(procedures === undefined ? [] : [procedures.tool]),
    ],
    ...(procedures === undefined ? {} : { procedures: procedures.procedures }),
    ...(agent.recording === 'default' ? {} : { recording: agent.recording }),
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
  return leftOut.size === 0 ? spec : { ...spec, leftOut: [...leftOut].slice(0, MAX_VARIABLES) }
}
