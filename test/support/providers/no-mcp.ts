import type { McpTools } from '../../../api/tools/mcp-tools.ts'

/** Agents of a test that have no MCP server. */
export const NO_MCP: Pick<McpTools, 'complete'> = { complete: async (_agent, spec) => ({ spec, faults: [] }) }
