import type { ExportReader } from './export-reader.ts'
import { filledText, type ImportedAgent } from './imported-agent.ts'

/** What both response engines of Retell have: its language model, its beginning and its tools. */

const VARIABLES = {
  current_time: 'now',
  user_number: 'caller_number',
  agent_number: 'called_number',
  call_id: 'call_id',
  direction: 'direction',
}
/** Says nothing about the file. */
export const OWN = [
  'last_modification_timestamp',
  'version',
  'is_published',
  'base_version',
  'llm_id',
  'conversation_flow_id',
  'agent_id',
  'channel',
]

export function importModel(agent: ImportedAgent, model: ExportReader, temperature: ExportReader): void {
  agent.modelOfFamily(model)
  agent.set('temperature', temperature, temperature.number())
}

/** Who speaks first, and what. */
export function beginRetellEngine(agent: ImportedAgent, engine: ExportReader): void {
  const message = engine.at('begin_message')
  const speaker = engine.at('start_speaker')
  if (speaker.text() === 'user') agent.set('first_message', speaker, '', 'the agent waits for the caller to speak')
  else {
    speaker.ignored()
    if (message.text() !== undefined) agent.set('first_message', message, filled(message, 'first_message'))
  }
  engine.at('default_dynamic_variables').dropped('defaults stand where the variable is used: {{name|there}}')
}

/** A tool, or a node that is one. Gives its name; undefined where it was reported. */
export function importTool(agent: ImportedAgent, tool: ExportReader, files: Map<string, string>): string | undefined {
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
      const timeoutMs = tool.at('timeout_ms').number()
      const made = agent.tool({
        type: 'http',
        name,
        description,
        parameters: tool.at('parameters').record() ?? { type: 'object', properties: {} },
        http: {
          method: tool.at('method').text() ?? 'POST',
          url: addressOf(tool),
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

export function importMcp(agent: ImportedAgent, server: ExportReader): void {
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

/** With its fixed parameters; placeholders in it stay as they are. */
function addressOf(tool: ExportReader): string | undefined {
  const url = tool.at('url').text()
  const fixed = new URLSearchParams()
  for (const [key, value] of Object.entries(tool.at('query_params').record() ?? {})) fixed.set(key, String(value))
  return url === undefined || fixed.size === 0 ? url : `${url}${url.includes('?') ? '&' : '?'}${fixed}`
}

export const filled = (from: ExportReader, field: string): string => filledText(from, field, VARIABLES)
