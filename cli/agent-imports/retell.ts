import type { ExportReader } from './export-reader.ts'
import { fileNameOf, filledText, ImportedAgent, PROCEDURES } from './imported-agent.ts'

/**
 * Agents of Retell with their response engines: types of retell-sdk 5.66.1 (npm, November 2026): AgentResponse, LlmResponse,
 * ConversationFlowResponse. An export of the dashboard holds the engine as `retellLlmData` or `conversationFlow`; answers of the API are put
 * together as `{agents, llms, conversation_flows}`.
 */

const VARIABLES = {
  current_time: 'now',
  user_number: 'caller_number',
  agent_number: 'called_number',
  call_id: 'call_id',
  direction: 'direction',
}
const OWN = [
  'last_modification_timestamp',
  'version',
  'is_published',
  'base_version',
  'llm_id',
  'conversation_flow_id',
  'agent_id',
  'channel',
]
const NODE_OWN = [
  'id',
  'type',
  'name',
  'display_position',
  'finetune_conversation_examples',
  'finetune_transition_examples',
]
/** The language model is named by family. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^gpt/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'google'],
]
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
    const agent = new ImportedAgent(fileNameOf(shown, taken), shown)
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
    if (flow !== undefined) importFlow(agent, flow, files)
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

function importModel(agent: ImportedAgent, model: ExportReader, temperature: ExportReader): void {
  const name = model.text()
  const family = FAMILIES.find(([prefix]) => prefix.test(name ?? ''))
  if (family === undefined) model.dropped('Patchbay has no LLM provider for it; the instance’s default is used')
  else {
    agent.fields.LLM_provider = family[1]
    agent.provider('LLM', model, model, { [String(name).toLowerCase()]: family[1] })
  }
  agent.set('temperature', temperature, temperature.number())
}

function importLlm(agent: ImportedAgent, llm: ExportReader, files: Map<string, string>): void {
  for (const own of OWN) llm.at(own).ignored()
  importModel(agent, llm.at('model'), llm.at('model_temperature'))
  agent.prompt(filled(llm.at('general_prompt'), 'system_prompt'))
  begin(agent, llm)
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

function importFlow(agent: ImportedAgent, flow: ExportReader, files: Map<string, string>): void {
  for (const own of [...OWN, 'begin_tag_display_position', 'notes']) flow.at(own).ignored()
  importModel(agent, flow.at('model_choice', 'model'), flow.at('model_temperature'))
  flow.at('model_choice', 'type').ignored()
  agent.prompt(filled(flow.at('global_prompt'), 'system_prompt'))
  begin(agent, flow)
  const tools = new Map<string, string>()
  for (const tool of flow.at('tools').items()) {
    const made = importTool(agent, tool, files)
    const id = tool.at('tool_id').text()
    tool.at('tool_id').ignored()
    if (id !== undefined && made !== undefined) tools.set(id, made)
  }
  for (const server of flow.at('mcps').items()) importMcp(agent, server)
  const nodes = flow.at('nodes').items()
  const start = flow.at('start_node_id').text()
  flow.at('start_node_id').mapped(PROCEDURES)
  const nameOf = (id: unknown): string => {
    const node = nodes.find((one) => one.at('id').value === id)
    return node?.at('name').text() ?? String(id)
  }
  for (const node of nodes) {
    const name = node.at('name').text() ?? String(node.at('id').value)
    const edges = edgesOf(node)
    const next = edges.map(({ to, when }) => `Then "${nameOf(to)}": ${when}`)
    const into = nodes.flatMap((one) =>
      edgesOf(one)
        .filter(({ to }) => to === node.at('id').value)
        .map(({ when }) => when),
    )
    const global = node.at('global_node_setting', 'condition').text()
    const when =
      node.at('id').value === start
        ? 'The conversation begins.'
        : [...into, ...(global === undefined ? [] : [global])].join(' Or: ') || `"${name}" is due.`
    for (const own of NODE_OWN) node.at(own).ignored()
    node.at('global_node_setting', 'condition').mapped(PROCEDURES)
    for (const edge of allEdges(node)) edge.mapped(PROCEDURES)
    const instruction = node.at('instruction', 'text')
    const text = filled(instruction, PROCEDURES)
    const says = node.at('instruction', 'type').text() === 'static_text' ? `Say: "${text}"` : text
    node.at('instruction', 'type').ignored()
    const used = importNode(agent, node, { tools, files })
    if (used === undefined) continue
    agent.procedure(name, when, [says, ...used.says, ...next].filter((one) => one !== '').join('\n'), used.tools)
  }
  flow.at('components').dropped('components are flows inside flows: write them as procedures')
  flow
    .at('knowledge_base_ids')
    .dropped('the export has no files: put them into documents/<agent>/ and name them in `documents`')
}

/** What a node does besides its words; undefined: it was reported. */
function importNode(
  agent: ImportedAgent,
  node: ExportReader,
  { tools, files }: { tools: Map<string, string>; files: Map<string, string> },
): { tools: string[]; says: string[] } | undefined {
  switch (node.at('type').text()) {
    case 'conversation':
    case 'subagent':
    case 'branch':
      return {
        tools: node
          .at('tools')
          .items()
          .flatMap((tool) => importTool(agent, tool, files) ?? []),
        says: [],
      }
    case 'end': {
      const made = agent.tool({ type: 'hang_up', name: 'end_call', description: 'Ends the call.' })
      return { tools: [made], says: [`Then end the call with ${made}.`] }
    }
    case 'function': {
      const made = tools.get(node.at('tool_id').text() ?? '')
      if (made === undefined) node.at('tool_id').dropped('the tool is not in the export')
      else node.at('tool_id').mapped(PROCEDURES)
      node.at('tool_type').ignored()
      return { tools: made === undefined ? [] : [made], says: made === undefined ? [] : [`Call ${made}.`] }
    }
    case 'transfer_call':
    case 'agent_swap':
    case 'press_digit': {
      const made = importTool(agent, node, files)
      return { tools: made === undefined ? [] : [made], says: made === undefined ? [] : [`Call ${made}.`] }
    }
    default:
      node.dropped(`Patchbay has no step of the type ${node.at('type').text() ?? ''}`)
      return undefined
  }
}

const EDGES = ['edge', 'always_edge', 'else_edge', 'skip_response_edge', 'success_edge', 'failed_edge']

const allEdges = (node: ExportReader): ExportReader[] =>
  [...node.at('edges').items(), ...EDGES.map((name) => node.at(name))].filter((one) => one.isThere)

function edgesOf(node: ExportReader): { to: unknown; when: string }[] {
  return allEdges(node).flatMap((edge) => {
    const to = edge.at('destination_node_id').value
    if (to === undefined) return []
    const condition = edge.at('transition_condition')
    const equations = condition
      .at('equations')
      .items()
      .map((one) => `${one.at('left').value} ${one.at('operator').value} ${one.at('right').value ?? ''}`.trim())
    const join = condition.at('operator').text() === '||' ? ' or ' : ' and '
    return [
      { to, when: condition.at('prompt').text() ?? (equations.length === 0 ? 'otherwise' : equations.join(join)) },
    ]
  })
}

function begin(agent: ImportedAgent, engine: ExportReader): void {
  const message = engine.at('begin_message')
  const speaker = engine.at('start_speaker')
  if (speaker.text() === 'user') agent.set('first_message', speaker, '', 'the agent waits for the caller to speak')
  else {
    speaker.ignored()
    if (message.text() !== undefined) agent.set('first_message', message, filled(message, 'first_message'))
  }
  engine.at('default_dynamic_variables').dropped('defaults stand where the variable is used: {{name|there}}')
}

function importTool(agent: ImportedAgent, tool: ExportReader, files: Map<string, string>): string | undefined {
  const type = tool.at('type').text()
  const name = tool.at('name').text() ?? String(type)
  const description = tool.at('description').text() ?? `${name.replace(/[_-]+/g, ' ')}.`
  const done = (made: string, ...parts: string[]): string => {
    for (const part of ['name', 'type', 'description', ...parts]) tool.at(part).mapped(`tools ${made}`)
    for (const part of [
      'speak_during_execution',
      'execution_message_description',
      'execution_message_type',
      'speak_after_execution',
      'enable_typing_sound',
    ]) {
      tool.at(part).dropped('what is said while a tool runs: `dead_air`, for all tools')
    }
    return made
  }
  switch (type) {
    case 'end_call':
      return done(agent.tool({ type: 'hang_up', name, description }))
    case 'press_digit':
      return done(agent.tool({ type: 'send_dtmf', name, description }))
    case 'transfer_call': {
      const to = tool.at('transfer_destination', 'number')
      if (to.text() === undefined) {
        tool.dropped('a number that the model makes up: Patchbay’s transfers lead to fixed numbers, one tool each')
        return undefined
      }
      const mode = String(tool.at('transfer_option', 'type').value).includes('warm') ? 'warm' : 'blind'
      tool.at('transfer_destination', 'type').ignored()
      tool.at('transfer_option', 'type').mapped('tools')
      return done(agent.tool({ type: 'transfer', name, description, to: to.text(), mode }), 'transfer_destination')
    }
    case 'agent_swap': {
      const file = files.get(tool.at('agent_id').text() ?? '')
      if (file === undefined) {
        tool.dropped('the agent is not in the export: export it, too')
        return undefined
      }
      return done(agent.tool({ type: 'handoff', name, to: file, when: description }), 'agent_id')
    }
    case 'custom': {
      const headers = agent.headers(name, tool.at('headers'))
      const query = tool.at('query_params').record()
      const url = new URL(tool.at('url').text() ?? 'https://example.com')
      for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, String(value))
      const timeoutMs = tool.at('timeout_ms').number()
      const made = agent.tool({
        type: 'http',
        name,
        description,
        parameters: tool.at('parameters').record() ?? { type: 'object', properties: {} },
        http: {
          method: tool.at('method').text() ?? 'POST',
          url: query === undefined ? tool.at('url').text() : url.href,
          ...(timeoutMs === undefined ? {} : { timeout_ms: Math.min(15_000, Math.max(100, timeoutMs)) }),
          ...(headers === undefined ? {} : { headers }),
        },
      })
      if (tool.at('args_at_root').boolean() !== true) tool.at('args_at_root').ignored()
      tool.at('response_variables').dropped('the model reads the whole answer')
      return done(made, 'url', 'method', 'parameters', 'query_params', 'timeout_ms')
    }
    default:
      tool.dropped(`Patchbay has no tool of the type ${type ?? ''}: an \`http\` tool can call the same service`)
      return undefined
  }
}

function importMcp(agent: ImportedAgent, server: ExportReader): void {
  const name = server.at('name').text() ?? 'mcp'
  const headers = agent.headers(name, server.at('headers'))
  const made = agent.tool({
    type: 'mcp',
    name,
    url: server.at('url').text() ?? '',
    ...(headers === undefined ? {} : { headers }),
  })
  for (const part of ['name', 'url']) server.at(part).mapped(`tools ${made}`)
}

const filled = (from: ExportReader, field: string): string => filledText(from, field, VARIABLES)
