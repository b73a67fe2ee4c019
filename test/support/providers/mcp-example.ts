import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Teardown } from '../instance/services.ts'
import { freePort } from '../sip/sip-peers.ts'

/** The example server of the official library: sessions, `greet`, `multi-greet` and others; its answers are event streams. */
export async function startMcpExample(t: Teardown): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort()
  const path = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/sdk/examples/server/simpleStreamableHttp.js',
  )
  const child = spawn(process.execPath, [path], {
    env: { ...process.env, MCP_PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  t.teardown(stop)
  // Read to the end: a server whose output nobody takes dies of its first line.
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => String(chunk).includes('listening') && resolve())
  })
  return { url: `http://localhost:${port}/mcp`, stop }
}
