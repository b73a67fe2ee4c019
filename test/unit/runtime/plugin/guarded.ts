import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import type { GuardedResult, GuardedRun } from './guarded-process.ts'

const execute = promisify(execFile)
export const ROOT = join(import.meta.dirname, '../../../..')
export const PATH = '/usr/local/bin:/usr/bin:/bin'

/** Runs probes in a guarded process of their own: a probe is the body of an async function over `host` and `args`. */
export async function guarded(
  t: Test,
  probes: Record<string, string>,
  options: Partial<GuardedRun> = {},
): Promise<GuardedResult> {
  const dir = mkdtempSync(join(tmpdir(), 'patchbay-guard-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'probe'), { recursive: true })
  writeFileSync(
    join(dir, 'probe', 'plugin.json'),
    JSON.stringify({ name: 'probe', version: '1.0.0', provides: { llm: {} }, permissions: {} }),
  )
  const bodies = Object.entries(probes).map(
    ([name, body]) => `${JSON.stringify(name)}: async (host, args) => { ${body} }`,
  )
  writeFileSync(
    join(dir, 'probe', 'mod.ts'),
    `import net from 'node:net'
import tls from 'node:tls'
import dgram from 'node:dgram'
import http from 'node:http'
import dns, { lookup as namedLookup } from 'node:dns'
import dnsPromises from 'node:dns/promises'
import child_process, { spawn as namedSpawn, spawnSync as namedSpawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import WebSocket from ${JSON.stringify(join(ROOT, 'node_modules/ws/wrapper.mjs'))}
import { definePlugin } from ${JSON.stringify(join(ROOT, 'runtime/plugin/contract.ts'))}
const opened = (socket, event = 'connect') => new Promise((resolve, reject) => {
  socket.once(event, () => { socket.destroy?.(); resolve('open') })
  socket.once('error', reject)
})
const probes = { ${bodies.join(',\n')} }
export default definePlugin({ llm: (host) => ({ chat: (name, args) => probes[name](host, args) }) })
`,
  )
  const run: GuardedRun = {
    dir,
    flags: {},
    env: { PATH },
    infrastructure: [],
    args: {},
    ...options,
    probes: Object.keys(probes),
  }
  const { stdout } = await execute(
    process.execPath,
    [join(import.meta.dirname, 'guarded-process.ts'), JSON.stringify(run)],
    {
      timeout: 600_000,
      env: run.env,
      cwd: ROOT,
    },
  )
  // A library may have printed something before.
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))
}
