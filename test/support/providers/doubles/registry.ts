import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AudioFrame } from '@livekit/rtc-node'
import { pino } from 'pino'
import { processEnvironment } from '../../../../config/load.ts'
import { loadPlugins, type PluginRegistry, ROOT } from '../../../../runtime/plugin/host.ts'
import { readPluginSettings } from '../../../../runtime/plugin/manifest.ts'
import { freePort } from '../../../../scripts/demo/free-port.ts'
import { renderSpeech } from '../../../../scripts/demo/speech.ts'
import type { Teardown } from '../../instance/services.ts'

/** The plugins as shipped, with these variables and options instead of the operator's. */
export async function registryWith(
  t: Teardown,
  env: Readonly<Record<string, string>>,
  options: Readonly<Record<string, Record<string, unknown>>> = {},
): Promise<PluginRegistry> {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const shipped = await readPluginSettings(join(ROOT, 'config/plugins.json'))
  const settings = Object.fromEntries(
    Object.entries(shipped).map(([name, own]) => [name, options[name] ? { ...own, options: options[name] } : own]),
  )
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-plugins-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const settingsFile = join(folder, 'plugins.json')
  await writeFile(settingsFile, JSON.stringify(settings))
  const { PATH = '' } = processEnvironment()
  const log = pino({ level: 'silent' })
  return loadPlugins({ config: {}, env: { PATH, ...env }, settingsFile, log, signal: stop.signal })
}

/** A sentence as audio in 20 ms frames. */
export async function spokenFrames(text: string, rateHz = 16_000): Promise<AudioFrame[]> {
  const samples = await renderSpeech(text, rateHz)
  const length = rateHz / 50
  return Array.from({ length: Math.ceil(samples.length / length) }, (_, i) => {
    const frame = new Int16Array(length)
    frame.set(samples.subarray(i * length, (i + 1) * length))
    return new AudioFrame(frame, rateHz, 1, length)
  })
}

/** An address of this machine where nobody listens, nor comes to. */
export async function deserted(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}
