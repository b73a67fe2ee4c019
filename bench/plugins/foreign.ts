import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { loadPlugins, type PluginRegistry, ROOT } from '../../runtime/plugin/host.ts'
import { digestOf, pluginLock } from '../../runtime/plugin/install/lock.ts'

/** Hears how many pieces of audio came, and speaks at once: all that is measured is the way there and back. */
const ECHO = `import { definePlugin } from '@patchbay/plugin'
export default definePlugin({
  stt: () => ({ sampleRateHz: 16000, async *recognise(audio) {
    let count = 0
    for await (const _ of audio) if (++count % 5 === 0) yield { type: 'interim', text: String(count) }
  } }),
  tts: () => ({ sampleRateHz: 16000, async *speak(text) {
    for (let n = 0; n < 10; n++) yield new Int16Array(1600).fill(1000)
  } }),
})
`
const HOSTILE = `import { definePlugin } from '@patchbay/plugin'
const acts = {
  loop: () => { for (;;) {} },
  async leak() { const kept = []; for (;;) { kept.push(new Uint8Array(64 << 20).fill(1)); await new Promise((r) => setTimeout(r, 60)) } },
  async messages() {
    const body = new TextEncoder().encode('{"type":"log","level":"debug","message":""}')
    const frame = new Uint8Array(body.length + 5)
    new DataView(frame.buffer).setUint32(0, body.length + 1, true)
    frame.set(body, 5)
    const many = new Uint8Array(frame.length * 1_000)
    for (let n = 0; n < 1_000; n++) many.set(frame, n * frame.length)
    const { Socket } = await import('node:net')
    // The pipe to the role is no standard output: it is got hold of as the plugin's own runtime writes to it.
    const pipe = await new Promise((found) => {
      const { write } = Socket.prototype
      Socket.prototype.write = function (...args) { found(this); return write.apply(this, args) }
      console.debug('')
    })
    for (;;) if (!pipe.write(many)) await new Promise((resolve) => pipe.once('drain', resolve))
  },
  async flood() { for (;;) await Deno.stdout.write(new Uint8Array(1 << 20)) },
}
export default definePlugin({ llm: () => ({ async *chat({ messages }) { await acts[messages.at(-1).content]() } }) })
`

const PLUGINS = {
  echo: { mod: ECHO, provides: { stt: { models: ['m'] }, tts: { voices: ['v'] } } },
  hostile: { mod: HOSTILE, provides: { llm: { models: ['m'] } } },
}

export interface ForeignPlugins {
  registry: PluginRegistry
  /** How often the process of a plugin ended. */
  ended(): number
  remove(): void
}

/** Plugins of others as installed, `parrot` of the examples and those of this benchmark. */
export async function foreignPlugins(isolation: 'none' | 'process', signal: AbortSignal): Promise<ForeignPlugins> {
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-bench-plugins-'))
  const installed = join(dataDir, 'plugins')
  mkdirSync(installed, { recursive: true })
  cpSync(join(ROOT, 'examples/plugins/parrot'), join(installed, 'parrot'), { recursive: true })
  for (const [name, { mod, provides }] of Object.entries(PLUGINS)) {
    mkdirSync(join(installed, name))
    const manifest = { name, version: '1.0.0', provides, permissions: {} }
    writeFileSync(join(installed, name, 'plugin.json'), JSON.stringify(manifest))
    writeFileSync(join(installed, name, 'mod.ts'), mod)
  }
  const names = ['parrot', ...Object.keys(PLUGINS)]
  const entries = names.map(async (name) => {
    const dir = join(installed, name)
    return [name, { version: '1.0.0', source: dir, digest: await digestOf(dir), grant: { env: ['PARROT_URL'] } }]
  })
  await pluginLock.write(dataDir, { plugins: Object.fromEntries(await Promise.all(entries)) })
  const settingsFile = join(dataDir, 'plugins.json')
  writeFileSync(settingsFile, JSON.stringify({ parrot: { isolation }, echo: { isolation } }))
  let ended = 0
  const write = (line: string): void => {
    if (String(JSON.parse(line).msg).startsWith('The process of plugin')) ended++
  }
  const registry = await loadPlugins({
    settingsFile,
    config: { dataDir },
    env: {},
    log: pino({ level: 'error' }, { write }),
    signal,
    createTimeoutMs: 60_000,
  })
  return { registry, ended: () => ended, remove: () => rmSync(dataDir, { recursive: true, force: true }) }
}
