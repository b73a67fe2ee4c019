import type { ExportReader } from './export-reader.ts'
import { filledText, ImportedAgent, PROCEDURES } from './imported-agent.ts'

/**
 * Agents of ElevenLabs as GET /v1/convai/agents/{agent_id} gives them: types of @elevenlabs/elevenlabs-js 2.73.0 (npm, October 2026):
 * GetAgentResponseModel, ConversationalConfig, AgentConfig, PromptAgentApiModelOutput, AgentWorkflowResponseModel. Several as a list or as
 * `{agents, tools}`, where `tools` is the answer of GET /v1/convai/tools.
 */

const VARIABLES = {
  system__time: 'time',
  system__time_utc: 'now',
  system__caller_id: 'caller_number',
  system__called_number: 'called_number',
  system__conversation_id: 'call_id',
}
const OWN = [
  'agent_id',
  'metadata',
  'access_info',
  'version_id',
  'branch_id',
  'main_branch_id',
  'phone_numbers',
  'whatsapp_accounts',
]
const EAGERNESS: Readonly<Record<string, string>> = { patient: 'patient', normal: 'balanced', eager: 'eager' }

interface Context {
  files: Map<string, string>
  shared: ExportReader[]
}

export function importElevenlabs(root: ExportReader): ImportedAgent[] {
  const taken = new Set<string>()
  const list = root.at('agents').isThere ? root.at('agents').items() : Array.isArray(root.value) ? root.items() : [root]
  const files = new Map<string, string>()
  const prepared = list.map((from) => {
    const shown = from.at('name').text() ?? 'Agent'
    const agent = new ImportedAgent(shown, taken)
    const id = from.at('agent_id').text()
    if (id !== undefined) files.set(id, agent.name)
    return { agent, from }
  })
  const context = { files, shared: root.at('tools').items() }
  for (const { agent, from } of prepared) importAgent(agent, from, context)
  return prepared.map(({ agent }) => agent)
}

function importAgent(agent: ImportedAgent, from: ExportReader, context: Context): void {
  for (const own of OWN) from.at(own).ignored()
  from.at('name').mapped('agent_name')
  const config = from.at('conversation_config')
  const own = config.at('agent')
  const prompt = own.at('prompt')
  agent.prompt(filled(prompt.at('prompt'), 'system_prompt'))
  const first = own.at('first_message')
  if (first.text() !== undefined) agent.set('first_message', first, filled(first, 'first_message'))
  agent.set('language', own.at('language'), own.at('language').text())
  own.at('dynamic_variables').dropped('defaults stand where the variable is used: {{name|there}}')
  agent.modelOfFamily(prompt.at('llm'))
  agent.set('temperature', prompt.at('temperature'), prompt.at('temperature').number())
  agent.set('timezone', prompt.at('timezone'), prompt.at('timezone').text())
  importVoice(agent, config)
  const ids = prompt.at('tool_ids')
  const inline = prompt.at('tools').items()
  for (const tool of inline) importTool(agent, tool, context)
  for (const id of ids.items()) {
    const tool = context.shared.find((one) => one.at('id').value === id.value)
    if (tool !== undefined && inline.length === 0) {
      tool.at('id').ignored()
      importTool(agent, tool.at('tool_config'), context)
      id.mapped('tools')
    } else if (inline.length > 0) id.ignored()
    else id.dropped('the tool is not in the export: add the answer of GET /v1/convai/tools as `tools`')
  }
  for (const tool of prompt.at('built_in_tools').items()) importTool(agent, tool, context)
  for (const document of prompt.at('knowledge_base').items()) {
    document.dropped('the export has no files: put it into documents/<agent>/ and name it in `documents`')
  }
  const data = from.at('platform_settings', 'data_collection')
  if (data.items().length > 0) {
    const properties = Object.fromEntries(
      data
        .items()
        .map((one) => [
          one.key,
          { type: one.at('type').value ?? 'string', description: one.at('description').value ?? '' },
        ]),
    )
    agent.fields.analysis = { summary: true, data: { type: 'object', properties } }
    data.mapped('analysis.data')
  }
  for (const one of from.at('procedures').items())
    one.dropped('the export has a procedure’s trigger without its text: write it as a procedure')
  importWorkflow(agent, from.at('workflow'), context)
}

function importVoice(agent: ImportedAgent, config: ExportReader): void {
  const voice = config.at('tts', 'voice_id')
  if (voice.text() !== undefined) {
    agent.set('TTS_voice', voice, voice.text())
    agent.fields.TTS_provider = 'elevenlabs'
  }
  config.at('tts', 'model_id').dropped('the model of ElevenLabs is an option of the operator')
  const asr = config.at('asr', 'provider')
  if (asr.isThere) agent.set('STT_provider', asr, 'elevenlabs')
  const terms = config.at('asr', 'keywords')
  if (terms.items().length > 0)
    agent.set(
      'keyterms',
      terms,
      terms.items().flatMap((one) => one.text() ?? []),
    )
  const eagerness = config.at('turn', 'turn_eagerness')
  agent.set('endpointing', eagerness, EAGERNESS[eagerness.text() ?? ''])
  const seconds = (from: ExportReader, field: string, least: number, most: number): void => {
    const value = from.number()
    if (value !== undefined && value > 0) agent.set(field, from, Math.round(Math.min(most, Math.max(least, value))))
  }
  seconds(config.at('conversation', 'max_duration_seconds'), 'max_duration_s', 10, 86_400)
  seconds(config.at('turn', 'silence_end_call_timeout'), 'idle_timeout_s', 5, 3_600)
}

/** A tool of either shape: of the agent's prompt, or built in. Gives its name; undefined where it was reported. */
function importTool(agent: ImportedAgent, tool: ExportReader, { files }: Context): string | undefined {
  if (!tool.isThere) return undefined
  const type = tool.at('type').text() ?? 'system'
  const name = tool.at('name').text() ?? tool.key
  const description = tool.at('description').text() || `${name.replace(/[_-]+/g, ' ')}.`
  const done = (made: string, ...parts: string[]): string => {
    for (const part of ['name', 'description', ...parts]) tool.at(part).mapped(`tools ${made}`)
    tool.at('type').ignored()
    tool.at('params', 'system_tool_type').ignored()
    return made
  }
  const timeoutMs = (tool.at('response_timeout_secs').number() ?? 0) * 1_000
  const timeout = timeoutMs === 0 ? {} : { timeout_ms: Math.min(15_000, Math.max(100, timeoutMs)) }
  if (type === 'webhook')
    return done(importWebhook(agent, tool, { name, description, timeout }), 'response_timeout_secs')
  if (type === 'client') {
    const parameters = schemaOf(tool.at('parameters').value)
    return done(
      agent.tool({ type: 'client', name, description, parameters, ...timeout }),
      'parameters',
      'response_timeout_secs',
    )
  }
  if (type !== 'system') {
    tool.dropped(`Patchbay has no tool of the type ${type}: an \`http\` or \`mcp\` tool can reach the same service`)
    return undefined
  }
  switch (tool.at('params', 'system_tool_type').text() ?? name) {
    case 'end_call':
      return done(
        agent.tool({
          type: 'hang_up',
          name,
          description: tool.at('description').text() || 'Ends the call when the caller has said goodbye.',
        }),
      )
    case 'play_keypad_touch_tone':
      return done(
        agent.tool({
          type: 'send_dtmf',
          name,
          description: tool.at('description').text() || 'Presses keys on the line.',
        }),
      )
    case 'knowledge_base':
    case 'knowledge_base_rag':
      return done(agent.tool({ type: 'knowledge', name, description }))
    case 'transfer_to_number': {
      let made: string | undefined
      for (const to of tool.at('params', 'transfers').items()) made = importTransfer(agent, to, name) ?? made
      return made === undefined ? undefined : done(made)
    }
    case 'transfer_to_agent': {
      let made: string | undefined
      for (const to of tool.at('params', 'transfers').items()) {
        const file = files.get(to.at('agent_id').text() ?? '')
        if (file === undefined) {
          to.dropped('the agent is not in the export: export it, too')
          continue
        }
        made = agent.tool(handoff(file, to.at('condition').text(), to.at('transfer_message').text()))
        for (const part of ['agent_id', 'condition', 'transfer_message']) to.at(part).mapped(`tools ${made}`)
      }
      return made === undefined ? undefined : done(made)
    }
    case 'voicemail_detection': {
      const message = tool.at('params', 'voicemail_message')
      if (message.text() !== undefined) agent.set('voicemail_message', message, filled(message, 'voicemail_message'))
      agent.fields.voicemail = message.text() === undefined ? 'hang_up' : 'leave_message'
      tool.at('description').dropped('Patchbay tells answering machines by itself')
      return done('voicemail')
    }
    case 'language_detection':
      tool.dropped('an agent whose `language` is multi follows the caller')
      return undefined
    default:
      tool.dropped('Patchbay has no such tool')
      return undefined
  }
}

function importTransfer(agent: ImportedAgent, to: ExportReader, name: string): string | undefined {
  const place = to.at('transfer_destination')
  const number = place.at('phone_number').text() ?? place.at('sip_uri').text() ?? to.at('phone_number').text()
  if (number === undefined || String(place.at('type').value).includes('dynamic')) {
    to.dropped('a destination from a variable: Patchbay’s transfers lead to fixed numbers')
    return undefined
  }
  const mode = to.at('transfer_type').text() === 'conference' ? 'warm' : 'blind'
  const made = agent.tool({
    type: 'transfer',
    name,
    description: to.at('condition').text() ?? 'Transfers the caller.',
    to: number,
    mode,
  })
  for (const part of ['transfer_destination', 'phone_number', 'condition', 'transfer_type'])
    to.at(part).mapped(`tools ${made}`)
  return made
}

const handoff = (file: string, when: string | undefined, says?: string) => ({
  type: 'handoff',
  name: `hand_off_to_${file.replace(/[^A-Za-z0-9]+/g, '_')}`,
  to: file,
  when: when ?? `The caller needs ${file}.`,
  ...(says === undefined ? {} : { says }),
})

function importWebhook(
  agent: ImportedAgent,
  tool: ExportReader,
  { name, description, timeout }: { name: string; description: string; timeout: { timeout_ms?: number } },
): string {
  const api = tool.at('api_schema')
  const path = api.at('path_params_schema').record() ?? {}
  const query = api.at('query_params_schema')
  const body = schemaOf(api.at('request_body_schema').value)
  const queryProperties = query.at('properties').record() ?? {}
  const properties: Record<string, unknown> = { ...(body.properties as object) }
  for (const [key, value] of [...Object.entries(path), ...Object.entries(queryProperties)])
    properties[key] = literalOf(value)
  const required = [
    ...Object.keys(path),
    ...((query.at('required').value as string[] | null | undefined) ?? []),
    ...((body.required as string[] | undefined) ?? []),
  ]
  let url = (api.at('url').text() ?? '').replace(/(?<!\{)\{(\w+)\}(?!\})/g, '{{$1}}')
  for (const key of Object.keys(queryProperties))
    url += `${url.includes('?') ? '&' : '?'}${encodeURIComponent(key)}={{${key}}}`
  const headers = agent.headers(name, api.at('request_headers'))
  const bodyNames = Object.keys((body.properties as object | undefined) ?? {})
  const hasBody = bodyNames.length > 0
  const made = agent.tool({
    type: 'http',
    name,
    description,
    parameters: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) },
    http: {
      method: api.at('method').text() ?? 'GET',
      url,
      ...timeout,
      ...(headers === undefined ? {} : { headers }),
      ...(hasBody ? { body: Object.fromEntries(bodyNames.map((key) => [key, `{{${key}}}`])) } : {}),
    },
  })
  for (const part of ['url', 'method', 'path_params_schema', 'query_params_schema', 'request_body_schema'])
    api.at(part).mapped(`tools ${made}`)
  api.at('auth_connection').dropped('a connection of ElevenLabs: set a header')
  return made
}

/** Their schema as JSON Schema: constants and variables are no arguments of the model. */
function schemaOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return { type: 'object', properties: {} }
  const {
    properties = {},
    required,
    description,
  } = value as { properties?: Record<string, unknown>; required?: string[] | null; description?: string | null }
  const all = Object.fromEntries(Object.entries(properties ?? {}).map(([key, one]) => [key, literalOf(one)]))
  return {
    type: 'object',
    properties: all,
    ...(required?.length ? { required } : {}),
    ...(description ? { description } : {}),
  }
}

function literalOf(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return {}
  const {
    type,
    description,
    enum: choices,
    constant_value: constant,
    properties,
    items,
  } = value as Record<string, unknown>
  if (properties !== undefined && properties !== null) return schemaOf(value)
  return {
    ...(type === undefined || type === null ? {} : { type }),
    ...(description ? { description } : {}),
    ...(Array.isArray(choices) ? { enum: choices } : {}),
    ...(constant === undefined || constant === null || constant === '' ? {} : { const: constant }),
    ...(items === undefined || items === null ? {} : { items: literalOf(items) }),
  }
}

function importWorkflow(agent: ImportedAgent, workflow: ExportReader, context: Context): void {
  if (!workflow.isThere) return
  const nodes = workflow.at('nodes').items()
  const edges = workflow.at('edges').items()
  const label = (id: string): string => {
    const node = nodes.find((one) => one.key === id)
    return node?.at('label').text() ?? id
  }
  const conditionOf = (edge: ExportReader): string => {
    const condition = edge.at('forward_condition')
    if (condition.at('type').text() === 'unconditional' || !condition.isThere) return 'always'
    return condition.at('condition').text() ?? condition.at('label').text() ?? JSON.stringify(condition.value)
  }
  for (const node of nodes) {
    const type = node.at('type').text()
    const into = edges.filter((edge) => edge.at('target').text() === node.key).map(conditionOf)
    const next = edges
      .filter(
        (edge) => edge.at('source').text() === node.key && nodes.some((one) => one.key === edge.at('target').text()),
      )
      .map((edge) => `Then "${label(String(edge.at('target').value))}": ${conditionOf(edge)}`)
    for (const own of ['position', 'edge_order', 'type']) node.at(own).ignored()
    node.at('label').mapped(PROCEDURES)
    const when = into.filter((one) => one !== 'always').join(' Or: ') || `"${label(node.key)}" is due.`
    switch (type) {
      case 'start':
        continue
      case 'override_agent':
      case 'say': {
        const text = node.at(type === 'say' ? 'message' : 'additional_prompt')
        const words =
          type === 'say'
            ? (text.at('text').text() ?? text.at('message').text() ?? text.text() ?? '')
            : filled(text, PROCEDURES)
        text.mapped(PROCEDURES)
        agent.procedure(label(node.key), when, [type === 'say' ? `Say: "${words}"` : words, ...next].join('\n'))
        continue
      }
      case 'standalone_agent': {
        const file = context.files.get(node.at('agent_id').text() ?? '')
        if (file === undefined) {
          node.dropped('the agent is not in the export: export it, too')
          continue
        }
        const made = agent.tool(handoff(file, when, node.at('transfer_message').text()))
        for (const part of ['agent_id', 'transfer_message']) node.at(part).mapped(`tools ${made}`)
        continue
      }
      case 'phone_number':
        importTransfer(agent, node, `transfer_${node.key}`)
        continue
      case 'end':
        agent.tool({ type: 'hang_up', name: 'end_call', description: when })
        continue
      default:
        node.dropped(`Patchbay has no step of the type ${type ?? ''}`)
    }
  }
  for (const edge of edges) edge.mapped(PROCEDURES)
}

const filled = (from: ExportReader, field: string): string => filledText(from, field, VARIABLES)
