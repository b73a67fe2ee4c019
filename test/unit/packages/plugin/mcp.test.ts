import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { test } from 'tap'
import { z } from 'zod'
import { fromMcp } from '../../../../packages/plugin/mcp.ts'
import { conformanceOf, testHost } from '../../../../packages/plugin/test.ts'

const plugin = fromMcp((host) => {
  const server = new McpServer({ name: 'shop', version: '1.0.0' })
  server.registerTool(
    'order_status',
    { description: 'Where an order is.', inputSchema: { order: z.string() } },
    async ({ order }, { _meta }) => ({
      content: [{ type: 'text', text: `${host.plugin} ${order} ${_meta?.['patchbay/idempotency-key']}` }],
    }),
  )
  server.registerTool('closed', { description: 'Fails.' }, async () => {
    throw new Error('the shop is closed')
  })
  server.registerTool('pings', { description: 'Asks its client.' }, async () => {
    await server.server.ping()
    const refused = await server.server
      .request({ method: 'roots/list' }, z.object({}))
      .catch(({ message }: Error) => message)
    return { content: [{ type: 'text', text: String(refused) }] }
  })
  server.registerTool('slow', { description: 'Never ends.' }, () => new Promise(() => undefined))
  return server
})

const signal = new AbortController().signal

test('the tools of an MCP server are a plugin, without a port', async (t) => {
  const tools = await plugin.tools?.(testHost({}), { settings: {} })
  t.match(await tools?.list(signal), [
    {
      name: 'order_status',
      description: 'Where an order is.',
      parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
    },
    { name: 'closed' },
    { name: 'pings' },
    { name: 'slow' },
  ])
  const call = { name: 'order_status', input: { order: '17' }, workspaceId: 'w', key: 'k-1' }
  t.equal(await tools?.call(call, signal), 'test 17 k-1')
  await t.rejects(tools?.call({ ...call, name: 'closed', input: {} }, signal) ?? Promise.resolve(), {
    message: 'the shop is closed',
  })
  t.match(await tools?.call({ ...call, name: 'pings', input: {} }, signal), /There is no roots\/list|does not support/)
  const over = new AbortController()
  const slow = tools?.call({ ...call, name: 'slow', input: {} }, over.signal) ?? Promise.resolve()
  over.abort(new Error('the call is over'))
  await t.rejects(slow, { message: 'the call is over' })
})

test('it passes the suite of plugins', async (t) => {
  t.same(
    (await conformanceOf(plugin)).filter(({ fault }) => fault !== undefined),
    [],
  )
})
