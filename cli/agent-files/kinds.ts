import { isDeepStrictEqual } from 'node:util'
import { Type } from 'typebox'
import { UpdateAgentInput } from '../../api/agents/schema.ts'
import { MASK } from '../../api/agents/tool-headers.ts'
import { ChangeCampaign, CreateCampaign } from '../../api/campaigns/schema.ts'
import type { YamlFault } from '../../runtime/lib/yaml/read-yaml.ts'
import type { Fields } from './managed-file.ts'
import { TESTS } from './tests.ts'

/** What is kept in files: one description a kind, from the schemas of the API. */
export interface Kind {
  noun: 'agent' | 'campaign' | 'test'
  folder: string
  extension: '.md' | '.yaml'
  /** The field that stands below the front matter. */
  body: string | undefined
  nameField: string
  /** The field that the folder of a file says: `tests/<agent>/…`. */
  folderField?: string
  /** The file's keys, as a JSON Schema. */
  schema: unknown
  /** The API's fields that the file holds. */
  fields: readonly string[]
  /** What a field is that the file leaves out; one without a default stays as it is. */
  defaults: Fields
  list: string
  /** What is wrong with the text of a file besides its keys. */
  faultsOf?(text: string): readonly YamlFault[]
  pathOf(body: Fields): string
  idOf(body: Fields): string
  /** Fields as they stand in a file: references by the names of files. */
  toFile(body: Fields, references: References): Record<string, unknown>
  /** Fields as the API takes them. A reference without an id yet is named in `missing`. */
  toApi(fields: Fields, references: References, text: string): { fields: Record<string, unknown>; missing: string[] }
  /** The file as it was applied, where the instance keeps it. */
  textOf?(body: Fields): string | undefined
  /** A change replaces all of it. */
  replaces?: true
}

/** Which agent is in which file. */
export interface References {
  nameOf(agentId: string): string | undefined
  idOf(name: string): string | undefined
}

/** Not of the agent itself: what the file names and the API has elsewhere. */
const DOCUMENTS = 'documents'
/** Switches and owners of the running installation, no settings. */
const NOT_OF_CAMPAIGNS = new Set(['workspace', 'email', 'paused'])

/** An agent that was made of a name and a prompt alone has these. */
const AGENT_DEFAULTS: Fields = {
  first_message: '',
  temperature: 0.7,
  tools: [],
  fallbacks: {},
  procedures: [],
  voicemail: 'hang_up',
  voicemail_message: '',
  recording_notice: '',
  consent_message: '',
  recording: 'default',
  public: null,
  analysis: { summary: true },
  language: 'en',
  interruption: { enabled: true, sensitivity: 'normal' },
  timezone: '',
  endpointing: 'balanced',
  dead_air: { enabled: true, phrases: [] },
  max_duration_s: null,
  idle_timeout_s: null,
  keyterms: [],
  transcribe: 'own',
  pronunciation: [],
  ai_disclosure: 'auto',
  register: 'formal',
  phrases: {},
  collect: [],
  guardrails: {},
  publishing: 'immediate',
}

type Tool = Record<string, unknown> & { type?: unknown; to?: unknown }
const toolsOf = (fields: Fields): Tool[] => (Array.isArray(fields.tools) ? (fields.tools as Tool[]) : [])
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

export const AGENTS: Kind = {
  noun: 'agent',
  folder: 'agents',
  extension: '.md',
  body: 'system_prompt',
  nameField: 'agent_name',
  schema: Type.Object({ ...UpdateAgentInput.properties, [DOCUMENTS]: Type.Array(Type.String()) }),
  fields: Object.keys(UpdateAgentInput.properties),
  defaults: AGENT_DEFAULTS,
  list: '/agents',
  pathOf: ({ agent_id }) => `/agents/${agent_id}`,
  idOf: ({ agent_id }) => String(agent_id),
  toFile(body, { nameOf }) {
    const fields = pick(body, AGENTS.fields)
    fields.tools = toolsOf(fields).map((tool) =>
      tool.type === 'handoff' && typeof tool.to === 'string' ? { ...tool, to: nameOf(tool.to) ?? tool.to } : tool,
    )
    return fields
  },
  toApi(fields, { idOf }) {
    const missing: string[] = []
    const tools = toolsOf(fields).flatMap((tool) => {
      if (tool.type !== 'handoff' || typeof tool.to !== 'string' || tool.to === 'webhook' || UUID.test(tool.to))
        return [tool]
      const id = idOf(tool.to)
      if (id === undefined) missing.push(tool.to)
      return id === undefined ? [] : [{ ...tool, to: id }]
    })
    return { fields: 'tools' in fields ? { ...fields, tools } : { ...fields }, missing }
  },
}

const campaignFields = Object.keys(ChangeCampaign.properties).filter((name) => !NOT_OF_CAMPAIGNS.has(name))
const campaignDefaults = Object.fromEntries(
  campaignFields.flatMap((name) => {
    const { default: otherwise } = (CreateCampaign.properties as Record<string, { default?: unknown }>)[name] ?? {}
    return otherwise === undefined ? [] : [[name, otherwise]]
  }),
)

export const CAMPAIGNS: Kind = {
  noun: 'campaign',
  folder: 'campaigns',
  extension: '.yaml',
  body: undefined,
  nameField: 'name',
  schema: Type.Object({
    ...Object.fromEntries(
      Object.entries(ChangeCampaign.properties).filter(
        ([name]) => campaignFields.includes(name) && name !== 'agent_id',
      ),
    ),
    agent: Type.String(),
  }),
  fields: [...campaignFields.filter((name) => name !== 'agent_id'), 'agent'],
  defaults: Object.fromEntries([
    ...Object.entries(campaignDefaults).filter(([name]) => name !== 'agent_id'),
    ['agent', null],
  ]),
  list: '/api/v/campaign/',
  pathOf: ({ slug }) => `/api/v/campaign/${encodeURIComponent(String(slug))}/`,
  idOf: ({ slug }) => String(slug),
  toFile(body, { nameOf }) {
    const agentId = body.agent_id
    const agent = typeof agentId === 'string' ? (nameOf(agentId) ?? agentId) : null
    return {
      ...pick(
        body,
        campaignFields.filter((name) => name !== 'agent_id'),
      ),
      agent,
    }
  },
  toApi({ agent, ...fields }, { idOf }) {
    if (agent === undefined) return { fields, missing: [] }
    if (typeof agent !== 'string' || UUID.test(agent))
      return { fields: { ...fields, agent_id: agent ?? null }, missing: [] }
    const id = idOf(agent)
    return id === undefined ? { fields, missing: [agent] } : { fields: { ...fields, agent_id: id }, missing: [] }
  },
}

/** Agents first: the others name them. */
export const FILE_KINDS: readonly Kind[] = [AGENTS, CAMPAIGNS, TESTS]

/** The fields without those that are as they would be if the file left them out. */
export function withoutDefaults(fields: Fields, kind: Kind): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([name, value]) => !isDeepStrictEqual(value, kind.defaults[name])),
  )
}

/** Header values of tools are never shown, so that they can't be compared. */
export function masked(fields: Fields): Record<string, unknown> {
  if (!Array.isArray(fields.tools)) return { ...fields }
  return { ...fields, tools: withHeaders(fields, () => MASK) }
}

/** The tools with each header's value changed; `of` says which one it is: `order_status Authorization`. */
export function withHeaders(fields: Fields, change: (value: string, of: string, tool: Tool) => string): Tool[] {
  const changed = (headers: unknown, tool: Tool): unknown =>
    typeof headers !== 'object' || headers === null
      ? headers
      : Object.fromEntries(
          Object.entries(headers).map(([name, value]) => [
            name,
            change(String(value), `${tool.name ?? tool.url} ${name}`, tool),
          ]),
        )
  return toolsOf(fields).map((tool) => {
    const http = tool.http as Record<string, unknown> | undefined
    return {
      ...tool,
      ...(tool.headers === undefined ? {} : { headers: changed(tool.headers, tool) }),
      ...(http?.headers === undefined ? {} : { http: { ...http, headers: changed(http.headers, tool) } }),
    }
  })
}

function pick(body: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
}
