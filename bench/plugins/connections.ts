import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { devNull, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compileGrants } from '../../runtime/plugin/grants/permissions.ts'
import { findDeno } from '../../runtime/plugin/isolated/deno.ts'
import { denoFlags } from '../../runtime/plugin/isolated/deno-flags.ts'
import { addressesOf, refusalOf } from '../../runtime/plugin/isolated/deno-permissions.ts'
import { openPermissionBroker } from '../../runtime/plugin/isolated/permission-broker.ts'

/** Connects one after the other, then sends messages to and fro over the last connection. */
const DIALLER = `const [hostname, port, count, messages] = Deno.args
const connectMs = []
let last
for (let n = 0; n < Number(count); n++) {
  const startedMs = performance.now()
  const connection = await Deno.connect({ hostname, port: Number(port) })
  connectMs.push(performance.now() - startedMs)
  last?.close()
  last = connection
}
const piece = new Uint8Array(640)
await last.write(Uint8Array.of(1))
for (let n = 0; n < Number(messages); n++) {
  await last.write(piece)
  await last.read(piece)
}
console.log(JSON.stringify(connectMs))
`
const MESSAGES = 1_000

export interface Connections {
  /** From the call of connect to its end, each. */
  connectMs: number[]
  /** Questions that were asked while messages went over one connection. */
  askedOnStream: number
}

/**
 * Connections of a plugin's code to this machine, one after the other.
 * @param asks whether each is decided by the role, or allowed by a flag
 */
export async function connections(host: 'localhost' | '127.0.0.1', asks: boolean, count: number): Promise<Connections> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-connections-'))
  const file = join(folder, 'dialler.ts')
  writeFileSync(file, DIALLER)
  let asked = 0
  let askedBefore = 0
  const server = createServer((socket) => {
    // The first byte marks the stream's begin.
    socket.once('data', () => {
      askedBefore = asked
    })
    socket.on('data', (bytes) => socket.write(bytes))
    socket.on('error', () => undefined)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const net = [`${host}:${port}`]
  const grants = compileGrants({ net }, { env: {}, baseDir: folder, requested: { net } })
  const broker = asks
    ? await openPermissionBroker(async (question) => {
        asked++
        return (await refusalOf(question, grants, [folder], addressesOf)) && 'refused'
      })
    : undefined
  try {
    const flags = denoFlags({ plugin: 'bench', net, env: {}, memoryMiB: 256 })
    const args = ['run', ...flags, ...(asks ? [] : ['--allow-net']), file, host, String(port), String(count)]
    const env = { DENO_DIR: devNull, ...(broker && { DENO_PERMISSION_BROKER_PATH: broker.path }) }
    const deno = findDeno(undefined)
    if (deno === undefined) throw new Error('There is no Deno; npm run patchbay plugins deno installs it')
    const { stdout } = await promisify(execFile)(deno, [...args, String(MESSAGES)], { env })
    return { connectMs: JSON.parse(stdout) as number[], askedOnStream: asked - askedBefore }
  } finally {
    broker?.close()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
