import type { AgentSpec, ToolSpec } from '../../runtime/call/types/agent-spec.ts'
import { inBackground } from '../../runtime/lib/async/boundary.ts'
import { ByteCache } from '../../runtime/lib/byte-cache.ts'
import type { Clock } from '../../runtime/lib/clock.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { SecretBox } from '../../runtime/lib/secret-box.ts'
import { shortText } from '../../runtime/lib/text.ts'
import type { Logger } from '../../runtime/process/log.ts'
import { type ArgumentChecks, BUSY, TOO_SLOW } from '../../runtime/tools/argument-check.ts'
import type { ToolResult } from '../../runtime/tools/call-http.ts'
import { withoutSecrets } from '../../runtime/tools/masked.ts'
import type { McpClients, McpServer } from '../../runtime/tools/mcp/clients.ts'
import { McpTimeout } from '../../runtime/tools/mcp/timeout.ts'
import type { McpTool } from '../../runtime/tools/mcp/tool-listing.ts'
import { asSpan, type Traced } from '../../runtime/tools/send-traced.ts'
import { isOwnTool, type McpSource, type Tool } from '../../runtime/tools/tool.ts'
import { toolOutput } from '../../runtime/tools/tool-output.ts'
import { unreached } from '../../runtime/tools/unreached.ts'
import type { Agent } from '../../store/database/schema.ts'
import { openHeaders } from '../agents/tool-headers.ts'
import type { PluginTools } from './plugin-tools.ts'

/** The tools agents find at MCP servers and plugins: listed as the server has them now, and called. */

/** How long a listing is fresh; afterwards it is still used while it is refreshed. */
const FRESH_MS = 60_000
/** Pause after a server's failure. */
const REST_MS = 10_000
/** A call does not begin later for a server that was never listed; a plugin is loaded once, and gets its own time. */
const MOST_WAIT_MS = 2_000
/** In characters of JSON, of which each costs some bytes in memory. */
const LISTINGS = { mostEntries: 1_000, mostBytes: 16 * 1024 * 1024, mostBytesOfOwner: 2 * 1024 * 1024 }
const LISTING_CHARACTERS = 500
/** Of the tools of all servers of one agent: a model reads them with each answer. */
const MAX_AGENT_CHARACTERS = 512 * 1024
const MAX_TOOLS = 128
const MAX_ERROR_CHARACTERS = 500
const TOO_MUCH = `with its tools the agent would have over ${MAX_AGENT_CHARACTERS} characters of tools; the rest is left out: name fewer in "allow"`
/** What every language model takes as the name of a function. */
const NAME = /[^A-Za-z0-9_-]/g
const MAX_NAME_CHARACTERS = 64

/** A tool of a server, by the name the agent's model knows. */
export interface McpTarget {
  source: McpSource
  /** As its server calls it. */
  tool: McpTool
  spec: ToolSpec
}

interface Listing {
  tools: readonly McpTool[] | undefined
  /** Of the last answer, good or bad. */
  atMs: number
  fault: string | undefined
  asking: Promise<void> | undefined
}

interface McpToolsOptions {
  /** Asked for when an agent has a server: most installations have none. */
  clients(): Promise<McpClients>
  pluginTools: PluginTools
  box: SecretBox
  checks: ArgumentChecks
  clock: Clock
  log: Logger
}

export class McpTools {
  readonly #options: McpToolsOptions
  readonly #listings = new ByteCache<Listing>(LISTINGS)

  constructor(options: McpToolsOptions) {
    this.#options = options
  }

  /** The agent's spec with the tools of its servers. A server that can't be listed is a sentence in `faults`. */
  async complete(agent: Agent, spec: AgentSpec): Promise<{ spec: AgentSpec; faults: string[] }> {
    const tools = agent.tools as unknown as readonly Tool[]
    if (tools.every(isOwnTool)) return { spec, faults: [] }
    const { targets, faults } = await this.targets(agent.workspace_id, tools)
    return { spec: { ...spec, tools: [...(spec.tools ?? []), ...targets.map((target) => target.spec)] }, faults }
  }

  /** Those of all servers of an agent. Never throws: what can't be listed is missing. */
  async targets(workspaceId: string, tools: readonly Tool[]): Promise<{ targets: McpTarget[]; faults: string[] }> {
    const sources = tools.filter((tool) => !isOwnTool(tool)) as McpSource[]
    const listed = await Promise.all(sources.map((source) => this.#listed(workspaceId, source)))
    const names = new Set(tools.filter(isOwnTool).map(({ name }) => name))
    const targets: McpTarget[] = []
    const faults: string[] = []
    let characters = 0
    for (const [i, source] of sources.entries()) {
      const { tools: found = [], fault } = listed[i]!
      if (fault !== undefined) faults.push(`${titleOf(source)}: ${fault}`)
      for (const tool of found.filter(({ name }) => source.allow?.includes(name) ?? true)) {
        const name = freeName(names, source.name, tool.name)
        if (name === undefined) continue
        characters += tool.characters
        if (characters > MAX_AGENT_CHARACTERS) {
          faults.push(`${titleOf(source)}: ${TOO_MUCH}`)
          break
        }
        names.add(name)
        const { description } = tool
        targets.push({ source, tool, spec: { name, description, parameters: tool.inputSchema, kind: 'mcp' } })
      }
      const missing =
        fault === undefined ? (source.allow ?? []).filter((name) => !found.some((one) => one.name === name)) : []
      if (missing.length > 0)
        faults.push(`${titleOf(source)} has no tool ${missing.map((name) => `"${name}"`).join(', ')}`)
    }
    return { targets, faults }
  }

  /** The tool the model calls by this name; undefined if unknown. */
  async find(workspaceId: string, tools: readonly Tool[], name: string): Promise<McpTarget | undefined> {
    if (tools.every(isOwnTool)) return undefined
    const { targets } = await this.targets(workspaceId, tools)
    return targets.find(({ spec }) => spec.name === name)
  }

  /** Calls it. Never throws but for `signal`. The key tells a call that is made twice. */
  async call(
    workspaceId: string,
    { source, tool }: McpTarget,
    input: Record<string, unknown>,
    { signal, key, traced }: { signal: AbortSignal; key: string | undefined; traced?: Traced | undefined },
  ): Promise<ToolResult> {
    let headers: McpServer['headers'] = {}
    const ask = async (traceparent: string | undefined) => {
      if (source.plugin !== undefined) {
        const { plugin, timeoutMs } = source
        const call = { name: tool.name, input, workspaceId, ...(key === undefined ? {} : { key }) }
        return this.#options.pluginTools.call({ plugin, timeoutMs }, call, signal)
      }
      const clients = await this.#options.clients()
      const server = this.#server(workspaceId, source)
      headers = server.headers
      return clients.call(server, { name: tool.name, input, key, traceparent }, signal)
    }
    try {
      const { text, isError } = await asSpan(traced, { method: 'POST', url: source.url }, ask, () => 200)
      const words = withoutSecrets(text, headers)
      if (!isError) return { output: toolOutput(words) || 'Done' }
      const fault = shortText(words, MAX_ERROR_CHARACTERS)
      return { output: `The tool failed: ${fault}`, fault }
    } catch (error) {
      signal.throwIfAborted()
      const { fault, reason } = wordsOf(error, { headers, timeoutMs: source.timeoutMs })
      return { output: `The tool failed: ${fault}`, fault, ...(reason === undefined ? {} : { reason }) }
    }
  }

  async #listed(workspaceId: string, source: McpSource): Promise<Pick<Listing, 'tools' | 'fault'>> {
    const { clock } = this.#options
    const key = JSON.stringify([workspaceId, source.url, source.headers])
    let listing = this.#listings.get(key)
    if (listing === undefined) {
      listing = { tools: undefined, atMs: 0, fault: undefined, asking: undefined }
      this.#keep(key, workspaceId, listing)
    }
    const isNew = listing.tools === undefined && listing.fault === undefined
    const restsMs = listing.fault === undefined ? FRESH_MS : REST_MS
    if (isNew || clock.monotonicMs() - listing.atMs > restsMs) {
      const asked = listing
      if (asked.asking === undefined) {
        asked.asking = this.#ask(asked, workspaceId, source).finally(() => {
          asked.asking = undefined
          this.#keep(key, workspaceId, asked)
        })
        inBackground('tool', asked.asking)
      }
    }
    if (listing.tools === undefined && listing.asking !== undefined) {
      const waitMs = source.plugin === undefined ? MOST_WAIT_MS : source.timeoutMs
      const waited = await settledWithin(listing.asking, waitMs)
      if (!waited) return { tools: undefined, fault: `its tools were not listed within ${waitMs} ms` }
    }
    // What it had when it was last reached is better than nothing: perhaps it is back when the tool is called.
    return { tools: listing.tools, fault: listing.tools === undefined ? listing.fault : undefined }
  }

  #keep(key: string, workspaceId: string, listing: Listing): void {
    const characters = (listing.tools ?? []).reduce(
      (sum, tool) => sum + tool.characters,
      key.length + LISTING_CHARACTERS,
    )
    this.#listings.set(key, listing, { owner: workspaceId, bytes: characters })
  }

  async #ask(listing: Listing, workspaceId: string, source: McpSource): Promise<void> {
    const { clock, checks, log } = this.#options
    let headers: McpServer['headers'] = {}
    try {
      const { plugin, timeoutMs } = source
      const { signal } = new AbortController()
      let found: McpTool[]
      if (plugin !== undefined) found = await this.#options.pluginTools.list({ plugin, timeoutMs }, MAX_TOOLS, signal)
      else {
        const clients = await this.#options.clients()
        const server = this.#server(workspaceId, source)
        headers = server.headers
        found = await clients.list(server, MAX_TOOLS, signal)
      }
      const usable = await Promise.all(
        found.map(async ({ inputSchema }) => {
          const fault = await checks.faultOfSchema(workspaceId, inputSchema)
          // A check that found no time says nothing of the schema; arguments are checked again anyway.
          return fault === undefined || fault === TOO_SLOW || fault === BUSY
        }),
      )
      // One schema a language model refuses would cost the call all of its answers.
      listing.tools = found.filter((_, i) => usable[i] === true)
      listing.fault = undefined
    } catch (error) {
      const { fault, reason } = wordsOf(error, { headers, timeoutMs: source.timeoutMs })
      listing.fault = fault
      log.warn(
        { workspaceId, server: source.name, fault, reason },
        'The tools of an MCP server or plugin could not be listed',
      )
    }
    listing.atMs = clock.monotonicMs()
  }

  #server(workspaceId: string, { url, headers, timeoutMs }: McpSource): McpServer {
    return { workspaceId, url, headers: openHeaders(headers, this.#options.box, workspaceId), timeoutMs }
  }
}

function wordsOf(
  error: unknown,
  { headers, timeoutMs }: Pick<McpServer, 'headers' | 'timeoutMs'>,
): { fault: string; reason?: string } {
  if (error instanceof McpTimeout) return { fault: `no answer within ${timeoutMs} ms` }
  const { fault, reason } = error instanceof PatchbayError ? { fault: error.message } : unreached(error)
  const shown = shortText(withoutSecrets(fault, headers), MAX_ERROR_CHARACTERS)
  return { fault: shown, ...(reason === undefined ? {} : { reason }) }
}

const titleOf = ({ name, plugin }: McpSource): string =>
  plugin === undefined ? `MCP server "${name}"` : `Plugin "${plugin}"`

/** The tool's own name where it is free, else with its server's before it. */
function freeName(taken: ReadonlySet<string>, server: string, tool: string): string | undefined {
  const own = tool.replace(NAME, '_').slice(0, MAX_NAME_CHARACTERS)
  const full = `${server}_${own}`.slice(0, MAX_NAME_CHARACTERS)
  return [own, full].find((name) => name !== '' && !taken.has(name))
}

function settledWithin(promise: Promise<void>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    inBackground(
      'tool',
      promise.finally(() => {
        clearTimeout(timer)
        resolve(true)
      }),
    )
  })
}
