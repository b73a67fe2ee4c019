import type { ExportReader } from './export-reader.ts'
import { ImportedAgent, PROCEDURES } from './imported-agent.ts'
import { beginRetellEngine, filled, importMcp, importModel, importTool, OWN } from './retell-engine.ts'
import { importRetellFlow } from './retell-flow.ts'

/**
 * Agents of Retell with their response engines: types of retell-sdk 5.66.1 (npm, November 2026): AgentResponse, LlmResponse,
 * ConversationFlowResponse. An export of the dashboard holds the engine as `retellLlmData` or `conversationFlow`; answers of the API are put
 * together as `{agents, llms, conversation_flows}`.
 */

const VOICES: readonly (readonly [RegExp, string])[] = [
  [/^11labs-/, 'elevenlabs'],
  [/^cartesia-/, 'cartesia'],
  [/^openai-/, 'openai'],
]

export function importRetell(root: ExportReader): ImportedAgent[] {
  const taken = new Set<string>()
  const list = root.at('agents').isThere ? root.at('agents').items() : Array.isArray(root.value) ? root.items() : [root]
  const llms = root.at('llms').items()
  const flows = root.at('conversation_flows').items()
  const files = new Map<string, string>()
  const prepared = list.map((from) => {
    const shown = from.at('agent_name').text() ?? 'Agent'
    const agent = new ImportedAgent(shown, taken)
    const id = from.at('agent_id').text()
    if (id !== undefined) files.set(id, agent.name)
    return { agent, from }
  })
  for (const { agent, from } of prepared) {
    importAgent(agent, from)
    const engine = from.at('response_engine')
    const type = engine.at('type').text()
    const llm = from.at('retellLlmData').isThere
      ? from.at('retellLlmData')
      : llms.find((one) => one.at('llm_id').text() === engine.at('llm_id').text() && type === 'retell-llm')
    const flow = from.at('conversationFlow').isThere
      ? from.at('conversationFlow')
      : flows.find(
          (one) =>
            one.at('conversation_flow_id').text() === engine.at('conversation_flow_id').text() &&
            type === 'conversation-flow',
        )
    if (type === 'custom-llm')
      engine.dropped('a language model of your own over a WebSocket: use an OpenAI-compatible server (OPENAI_BASE_URL)')
    else if (llm === undefined && flow === undefined)
      engine.dropped(
        'the response engine is not in the export: add the answer of GET /get-retell-llm as `llms`, or of /get-conversation-flow as `conversation_flows`',
      )
    else engine.ignored()
    if (llm !== undefined) importLlm(agent, llm, files)
    if (flow !== undefined) importRetellFlow(agent, flow, files)
  }
  return prepared.map(({ agent }) => agent)
}

function importAgent(agent: ImportedAgent, from: ExportReader): void {
  for (const own of OWN) from.at(own).ignored()
  from.at('agent_name').mapped('agent_name')
  const language = from.at('language')
  const tag = Array.isArray(language.value) ? 'multi' : language.text()
  agent.set('language', language, tag === 'es-419' ? 'es-MX' : tag)
  const voice = from.at('voice_id')
  const found = VOICES.find(([prefix]) => prefix.test(voice.text() ?? ''))
  if (found !== undefined) {
    agent.fields.TTS_provider = found[1]
    voice.dropped(`a name of Retell for a voice of ${found[1]}: set TTS_voice to that provider’s id`)
  } else voice.dropped('a voice of Retell’s own; choose TTS_provider and TTS_voice')
  const ms = (field: string, to: string, least: number, most: number): void => {
    const value = from.at(field).number()
    if (value !== undefined) agent.set(to, from.at(field), Math.round(Math.min(most, Math.max(least, value / 1_000))))
  }
  ms('max_call_duration_ms', 'max_duration_s', 10, 86_400)
  ms('end_call_after_silence_ms', 'idle_timeout_s', 5, 3_600)
  agent.set('timezone', from.at('timezone'), from.at('timezone').text())
  const terms = from.at('boosted_keywords')
  if (terms.items().length > 0)
    agent.set(
      'keyterms',
      terms,
      terms.items().flatMap((one) => one.text() ?? []),
    )
  const sensitivity = from.at('interruption_sensitivity')
  const level = sensitivity.number()
  if (level !== undefined)
    agent.set('interruption', sensitivity, {
      enabled: level > 0,
      sensitivity: level < 0.4 ? 'low' : level > 0.8 ? 'high' : 'normal',
    })
  const responsiveness = from.at('responsiveness')
  const eager = responsiveness.number()
  if (eager !== undefined)
    agent.set('endpointing', responsiveness, eager < 0.5 ? 'patient' : eager > 0.9 ? 'eager' : 'balanced')
  const voicemail = from.at('voicemail_option', 'action')
  const says = voicemail.at('text')
  if (voicemail.at('type').text() === 'hangup') agent.set('voicemail', voicemail.at('type'), 'hang_up')
  else if (voicemail.at('type').text() === 'static_text') {
    agent.set('voicemail', voicemail.at('type'), 'leave_message')
    agent.set('voicemail_message', says, filled(says, 'voicemail_message'))
  } else voicemail.dropped('a message that the model makes up: write `voicemail_message`')
  importAnalysis(agent, from.at('post_call_analysis_data'))
}

function importAnalysis(agent: ImportedAgent, list: ExportReader): void {
  const properties: Record<string, unknown> = {}
  for (const item of list.items()) {
    const name = item.at('name').text()
    const type = item.at('type').text()
    if (name === undefined || type === 'system-presets') {
      item.dropped('summary and success are Patchbay’s own: `analysis.summary`, `analysis.success`')
      continue
    }
    properties[name] = {
      ...(type === 'enum' ? { enum: item.at('choices').value } : { type }),
      ...(item.at('description').isThere ? { description: item.at('description').value } : {}),
    }
    item.mapped('analysis.data')
  }
  if (Object.keys(properties).length > 0)
    agent.fields.analysis = { summary: true, data: { type: 'object', properties } }
}

function importLlm(agent: ImportedAgent, llm: ExportReader, files: Map<string, string>): void {
  for (const own of OWN) llm.at(own).ignored()
  importModel(agent, llm.at('model'), llm.at('model_temperature'))
  agent.prompt(filled(llm.at('general_prompt'), 'system_prompt'))
  beginRetellEngine(agent, llm)
  for (const tool of llm.at('general_tools').items()) importTool(agent, tool, files)
  for (const server of llm.at('mcps').items()) importMcp(agent, server)
  const start = llm.at('starting_state').text()
  llm.at('starting_state').mapped(PROCEDURES)
  for (const state of llm.at('states').items()) {
    const name = state.at('name').text() ?? 'state'
    const tools = state
      .at('tools')
      .items()
      .flatMap((tool) => importTool(agent, tool, files) ?? [])
    const next = state
      .at('edges')
      .items()
      .map((edge) => {
        edge.at('parameters').dropped('values that are handed from state to state stay in the conversation')
        edge.at('destination_state_name').mapped(PROCEDURES)
        edge.at('description').mapped(PROCEDURES)
        return `Then "${edge.at('destination_state_name').text()}": ${edge.at('description').text() ?? ''}`
      })
    const prompt = filled(state.at('state_prompt'), PROCEDURES)
    state.at('name').mapped(PROCEDURES)
    const when = name === start ? 'The conversation begins.' : whenOf(llm.at('states'), name)
    agent.procedure(name, when, [prompt, ...next].filter((one) => one !== '').join('\n'), tools)
  }
  llm
    .at('knowledge_base_ids')
    .dropped('the export has no files: put them into documents/<agent>/ and name them in `documents`')
}

/** What leads to a state, in the words of the edges. */
function whenOf(states: ExportReader, name: string): string {
  const edges = states.items().flatMap((state) => state.at('edges').items())
  const words = edges
    .filter((edge) => edge.at('destination_state_name').text() === name)
    .flatMap((edge) => edge.at('description').text() ?? [])
  return words.join(' Or: ') || `"${name}" is due.`
}
