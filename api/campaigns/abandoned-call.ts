import type { AgentSpec } from '../../runtime/call/types/agent-spec.ts'
import { LANGUAGES, languageOf } from '../../runtime/conversation/languages/index.ts'
import { fillVariables, MAX_SPOKEN_BYTES } from '../../runtime/conversation/variables.ts'

/**
 * An agent that tells an abandoned callee who called and the opt-out number (47 CFR
 * 64.1200(a)(7)), and nothing else.
 * @param message the campaign's own; empty: the one of the agent's language, in English where there is none
 */
export function abandonedCall(
  agent: AgentSpec,
  message: string,
  call: { workspace: string; from: string; variables: Readonly<Record<string, string>> },
): AgentSpec {
  const { agentId, agentName, temperature, llm, stt, tts, language, pronunciation, fallbacks } = agent
  const said = { ...call.variables, workspace: call.workspace, from_number: spelled(call.from) }
  return {
    agentId,
    agentName,
    temperature,
    llm,
    stt,
    tts,
    ...(language === undefined ? {} : { language }),
    ...(pronunciation === undefined ? {} : { pronunciation }),
    ...(fallbacks === undefined ? {} : { fallbacks }),
    systemPrompt: '',
    firstMessage: fillVariables(
      message.trim() || languageOf(language).phrases.abandoned || LANGUAGES[0].phrases.abandoned,
      said,
      {
        field: 'abandoned message',
        maxBytes: MAX_SPOKEN_BYTES,
      },
    ),
    hasKnowledge: false,
  }
}

/** Digit by digit, so that no voice reads a number of billions. */
const spelled = (number: string): string => number.replace(/\D/g, '').split('').join(' ')
