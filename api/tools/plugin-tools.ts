import type { ToolCall } from '../../packages/plugin/mod.ts'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { cleanJson } from '../../runtime/lib/text.ts'
import type { PluginInstances } from '../../runtime/plugin/contract.ts'
import type { PluginRegistry } from '../../runtime/plugin/host.ts'
import { McpTimeout } from '../../runtime/tools/mcp/timeout.ts'
import { type McpTool, ToolListing } from '../../runtime/tools/mcp/tool-listing.ts'

interface Asked {
  plugin: string
  timeoutMs: number
}

/** Tools that installed plugins have, listed and called as those of MCP servers are. */
export class PluginTools {
  readonly #plugins: Pick<PluginRegistry, 'create'>
  readonly #made = new Map<string, Promise<PluginInstances['tools']>>()

  constructor(plugins: Pick<PluginRegistry, 'create'>) {
    this.#plugins = plugins
  }

  /** At most `most` of the plugin's tools. Throws McpTimeout, the signal's reason, `plugin` and what the plugin throws. */
  async list({ plugin, timeoutMs }: Asked, most: number, signal: AbortSignal): Promise<McpTool[]> {
    const listing = new ToolListing(most)
    const found = await this.#within(plugin, timeoutMs, signal, (tools, within) => tools.list(within))
    for (const { name, description, parameters } of cleanJson(found)) {
      listing.add({ name, description, inputSchema: { ...parameters } })
    }
    return listing.tools
  }

  /** What came of a call, for a model to read. Throws as `list`. */
  async call(
    { plugin, timeoutMs }: Asked,
    call: ToolCall,
    signal: AbortSignal,
  ): Promise<{ text: string; isError: false }> {
    const came = await this.#within(plugin, timeoutMs, signal, (tools, within) => tools.call(call, within))
    const text = typeof came === 'string' ? came : JSON.stringify(came ?? null)
    return { text: cleanJson(text), isError: false }
  }

  async #within<T>(
    plugin: string,
    timeoutMs: number,
    signal: AbortSignal,
    use: (tools: PluginInstances['tools'], signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const within = signalWithin(timeoutMs, signal)
    try {
      return await use(await this.#toolsOf(plugin), within)
    } catch (error) {
      if (within.aborted && !signal.aborted) throw new McpTimeout()
      throw error
    }
  }

  #toolsOf(plugin: string): Promise<PluginInstances['tools']> {
    const known = this.#made.get(plugin)
    if (known !== undefined) return known
    const made = this.#plugins.create('tools', plugin)
    this.#made.set(plugin, made)
    made.catch(() => this.#made.delete(plugin))
    return made
  }
}
