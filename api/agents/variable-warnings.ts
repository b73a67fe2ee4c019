import { BUILT_IN_NAMES } from '../../runtime/conversation/built-in-variables.ts'
import { namesWithoutValue } from '../../runtime/conversation/variables.ts'
import { isOwnTool, type Tool } from '../../runtime/tools/tool.ts'
import type { Agent } from '../../store/database/schema.ts'
import { proceduresSpec } from './procedures.ts'

const BUILT_IN = Object.fromEntries([...BUILT_IN_NAMES].map((name) => [name, name]))

/** The names in an agent's texts that are left out of a call that brings values for `given` alone. */
export function namesLeftOut(agent: Agent, given: readonly string[] = []): string[] {
  const { system_prompt, first_message, recording_notice, consent_message, voicemail_message } = agent
  const texts = [system_prompt, first_message, recording_notice, consent_message, voicemail_message]
  for (const tool of (agent.tools as unknown as Tool[]).filter(isOwnTool))
    if ('says' in tool && tool.says !== undefined) texts.push(tool.says)
  proceduresSpec(agent.procedures, (text) => {
    texts.push(text)
    return text
  })
  return namesWithoutValue(texts, { ...BUILT_IN, ...Object.fromEntries(given.map((name) => [name, name])) })
}

/** The warnings of an agent whose texts have names that not every call brings a value for. */
export function variableWarnings(agent: Agent): string[] {
  const names = namesLeftOut(agent)
  if (names.length === 0) return []
  const listed = names.map((name) => `{{${name}}}`).join(', ')
  return [
    `In calls that bring no value for them these are left out: ${listed}. {{${names[0]}|…}} says what stands there then`,
  ]
}
