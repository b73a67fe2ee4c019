import { join } from 'node:path'
import type { Test } from 'tap'
import type { RealtimeProvider } from '../../../../../runtime/plugin-sdk/realtime/realtime-provider.ts'
import { foreign } from '../../plugin/isolated/support.ts'
import { MODELS, type RealtimeWorld, realtimeWorld, VENDORS, type Vendor, type WorldOptions } from './support.ts'

const PLUGINS = join(import.meta.dirname, '../../../../../plugins')

/** Our own functions as a third party's plugin: the files alone, in a folder of its own. */
const SOURCES: Readonly<Record<Vendor, { files: readonly string[]; mod: string }>> = {
  openai: {
    files: ['realtime.ts', 'realtime-models.ts', 'transcription-of.ts'],
    mod: `import { definePlugin } from '@patchbay/plugin'
import { openaiRealtime } from './realtime.ts'
export default definePlugin({
  realtime: ({ env }, options) => openaiRealtime({ base: env.get('OPENAI_BASE_URL'), key: env.get('OPENAI_API_KEY') }, options),
})
`,
  },
  google: {
    files: ['live.ts'],
    mod: `import { definePlugin } from '@patchbay/plugin'
import { geminiLive } from './live.ts'
export default definePlugin({
  realtime: ({ env }, options) => geminiLive({ base: env.get('GOOGLE_BASE_URL'), key: env.get('GOOGLE_API_KEY') }, options),
})
`,
  },
}

/** The vendor's functions in Deno. */
export async function inDeno(
  t: Test,
  vendor: Vendor,
  env: Record<string, string>,
  settings: object,
): Promise<RealtimeProvider> {
  const { files, mod } = SOURCES[vendor]
  const { model } = MODELS[vendor]
  const base = Object.values(env).find((value) => value.startsWith('http')) ?? ''
  const variables = Object.keys(env)
  const { registry } = await foreign(t, {
    plugin: {
      mod,
      provides: { realtime: { models: [model] } },
      permissions: { net: [new URL(base).host], env: variables },
      options: { type: 'object', properties: { realtimeSessionS: { type: 'number' } } },
      files: Object.fromEntries(files.map((file) => [file, join(PLUGINS, vendor, file)])),
    },
    settings: { grant: { net: [new URL(base).host], env: variables }, options: settings },
    env,
  })
  return registry.create('realtime', 'probe', { model })
}

/** Runs a check with each vendor's protocol, in the role's process and in Deno. */
export async function everywhere(
  t: Test,
  options: Omit<WorldOptions, 'vendor' | 'provider'>,
  check: (t: Test, world: RealtimeWorld) => Promise<void>,
): Promise<void> {
  for (const vendor of VENDORS) {
    for (const isolation of ['none', 'process'] as const) {
      await t.test(`${MODELS[vendor].title}, isolation ${isolation}`, async (t) => {
        const provider = isolation === 'none' ? {} : { provider: inDeno }
        await check(t, await realtimeWorld(t, { ...options, vendor, ...provider }))
      })
    }
  }
}
