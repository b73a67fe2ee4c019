import { openRaw } from '../../support/world/raw-http.ts'
import { fromSchema, type JsonSchema } from '../from-schema.ts'
import { hostileText, mutatedBytes, mutatedJson } from '../mutate.ts'
import type { Random } from '../random.ts'
import type { Surface } from '../surface.ts'

interface Operation {
  method: string
  path: string
  body: JsonSchema | undefined
  query: readonly string[]
}

/** What would leave the attacker without an account, or wait for ever by design. */
const LEFT_OUT = /logout|\/auth\/|workspaces\/\{|live|\/events$|api-keys/
const TIMEOUT_MS = 10_000
const RAW_WAIT_MS = 300

/** Every operation of /openapi.json with bodies, paths and queries that are not what it asks for, and malformed HTTP. */
export const rest: Surface = {
  name: 'rest',
  async open(world, random) {
    const document = (await (await fetch(`${world.instance.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, OperationObject>>
      components: { schemas: Record<string, JsonSchema> }
    }
    const lookUp = (ref: string): JsonSchema => document.components.schemas[ref.split('/').at(-1) ?? ''] ?? {}
    const operations: Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'delete' && !LEFT_OUT.test(path))
        .map(([method, operation]) => ({
          method: method.toUpperCase(),
          path,
          body: operation.requestBody?.content?.['application/json']?.schema,
          query: (operation.parameters ?? []).filter((one) => one.in === 'query').map((one) => one.name ?? ''),
        })),
    )
    const call = async () => {
      const { method, path, body, query } = random.pick(operations)
      const url = new URL(world.instance.url + pathOf(random, path, world.hostile.agentId))
      for (const name of query) {
        if (random.chance(0.5))
          url.searchParams.set(name, random.chance(0.5) ? '1' : hostileText(random, 2_000).toWellFormed())
      }
      const answer = await fetch(url, {
        method,
        headers: { cookie: world.hostile.cookies, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: mutatedJson(random, fromSchema(random, body, lookUp)) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      await answer.arrayBuffer()
    }
    const raw = async () => {
      const connection = await openRaw(world.instance.url)
      connection.write(mutatedBytes(random, Buffer.from(rawRequest(random, world.hostile.cookies))))
      await Promise.race([connection.closed(), new Promise((resolve) => setTimeout(resolve, RAW_WAIT_MS))])
      connection.socket.destroy()
    }
    return {
      attempt: async () => {
        if (random.chance(0.2)) await raw()
        else await Promise.allSettled(Array.from({ length: 4 }, call))
      },
    }
  },
}

interface OperationObject {
  requestBody?: { content?: Record<string, { schema?: JsonSchema }> }
  parameters?: readonly { in?: string; name?: string }[]
}

function pathOf(random: Random, path: string, agentId: string): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'agent_id' && random.chance(0.7)) return agentId
    return encodeURIComponent(hostileText(random, 500).toWellFormed() || 'x')
  })
}

function rawRequest(random: Random, cookies: string): string {
  const body = random.pick(['{}', '[', '{"a":'.repeat(2_000), '1\r\n{\r\n0\r\n\r\n'])
  const framing = random.pick([
    `Content-Length: ${body.length}`,
    `Content-Length: 2\r\nContent-Length: ${body.length}`,
    'Transfer-Encoding: chunked',
    `Transfer-Encoding: chunked\r\nContent-Length: ${body.length}`,
    'Transfer-Encoding: gzip, chunked',
    'Content-Length: 99999999999999',
    'Expect: 100-continue',
  ])
  const method = random.pick(['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT', 'BREW'])
  const path = random.pick([
    '/health',
    '/agents',
    '/auth/login',
    '/openapi.json',
    '/calls/logs?page=1',
    '/%00',
    '//',
    '*',
  ])
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookies}\r\nContent-Type: application/json\r\n${framing}\r\n\r\n${body}`
}
