import type { ExportReader } from './export-reader.ts'
import { type ImportedAgent, PROCEDURES } from './imported-agent.ts'
import { beginRetellEngine, filled, importMcp, importModel, importTool, OWN } from './retell-engine.ts'

const NODE_OWN = [
  'id',
  'type',
  'name',
  'display_position',
  'finetune_conversation_examples',
  'finetune_transition_examples',
]

/** A conversation flow of Retell: its nodes become procedures. */
export function importRetellFlow(agent: ImportedAgent, flow: ExportReader, files: Map<string, string>): void {
  for (const own of [...OWN, 'begin_tag_display_position', 'notes']) flow.at(own).ignored()
  importModel(agent, flow.at('model_choice', 'model'), flow.at('model_temperature'))
  flow.at('model_choice', 'type').ignored()
  agent.prompt(filled(flow.at('global_prompt'), 'system_prompt'))
  beginRetellEngine(agent, flow)
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
