import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ErrorCode, ListToolsRequestSchema, McpError } from '@modelcontextprotocol/sdk/types.js'
import { buildInfo } from '../../runtime/process/build-info.ts'
import type { OfferedTool } from './tools.ts'

/** Answers messages of the Model Context Protocol by the official library, without sessions: any api node answers any of them. */

const INSTRUCTIONS =
  'Patchbay runs voice agents on phone calls. Calls are placed by an agent from one of its phone numbers (list_phone_numbers); a call is placed at once and read afterwards (get_call).'
/** What a client's model can read; more is asked for by pages. */
const MAX_RESULT_CHARACTERS = 100_000

/** What came of a tool's request. */
interface ToolAnswer {
  status: number
  text: string
}

type RunTool = (tool: OfferedTool, input: Record<string, unknown>) => Promise<ToolAnswer>

interface McpAnswer {
  status: number
  text: string
}

export async function answerMessage(
  message: unknown,
  { tools, protocolVersion, run }: { tools: readonly OfferedTool[]; protocolVersion: string; run: RunTool },
): Promise<McpAnswer> {
  const server = new Server(
    { name: 'patchbay', version: buildInfo().version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema, route }) => ({
      name,
      description,
      inputSchema,
      annotations: { readOnlyHint: route.method === 'GET', openWorldHint: name === 'place_call' },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = tools.find(({ name }) => name === params.name)
    if (tool === undefined) throw new McpError(ErrorCode.InvalidParams, `There is no tool "${params.name}"`)
    const { status, text } = await run(tool, params.arguments ?? {})
    const isLong = text.length > MAX_RESULT_CHARACTERS
    const words = isLong ? `The answer has ${text.length} characters; ask for fewer with page and page_size` : text
    return { content: [{ type: 'text', text: words }], isError: isLong || status >= 400 }
  })
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  // The transport's members are of looser types than its own interface under exactOptionalPropertyTypes.
  await server.connect(transport as Parameters<Server['connect']>[0])
  try {
    const response = await transport.handleRequest(
      new Request('http://patchbay/mcp', {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          ...(protocolVersion === '' ? {} : { 'mcp-protocol-version': protocolVersion }),
        },
      }),
      { parsedBody: message },
    )
    return { status: response.status, text: await response.text() }
  } finally {
    await server.close()
  }
}
