import { inBackground } from '../lib/async/boundary.ts'
import type { Logger } from '../process/log.ts'
import { defaultsOf, languagesOf } from './catalogue.ts'
import type { ListedVoice } from './contract.ts'
import type { PluginRegistry } from './host.ts'

/** The voices agents may name. */
export interface ProviderVoices {
  /** Those of the manifest and those of the operator's account, sorted as the provider lists them. Never throws. */
  of(provider: string): Promise<readonly ListedVoice[]>
}

const ASK_TIMEOUT_MS = 3_000
const GOOD_FOR_MS = 600_000
const FAILED_FOR_MS = 30_000

/** Asks providers now and then alone which voices their account has. */
export function createProviderVoices(registry: PluginRegistry, log: Logger): ProviderVoices {
  const known = new Map<string, { voices: Promise<readonly ListedVoice[]>; untilMs: number }>()
  registry.keys.watch((changed) => {
    for (const provider of changed) known.delete(provider)
  })

  const ask = async (provider: string): Promise<{ voices: readonly ListedVoice[]; goodForMs: number }> => {
    if (registry.missingKey(provider) !== undefined) return { voices: [], goodForMs: GOOD_FOR_MS }
    try {
      return { voices: (await registry.voices(provider, ASK_TIMEOUT_MS)) ?? [], goodForMs: GOOD_FOR_MS }
    } catch (err) {
      log.debug({ err, provider }, 'The voices of a provider could not be listed')
      return { voices: [], goodForMs: FAILED_FOR_MS }
    }
  }

  const ofAccount = (provider: string): Promise<readonly ListedVoice[]> => {
    const last = known.get(provider)
    if (last !== undefined && performance.now() < last.untilMs) return last.voices
    const asked = ask(provider)
    const entry = { voices: asked.then(({ voices }) => voices), untilMs: Number.POSITIVE_INFINITY }
    known.set(provider, entry)
    const done = asked.then(({ goodForMs }) => {
      entry.untilMs = performance.now() + goodForMs
    })
    inBackground('plugin', done)
    return entry.voices
  }

  return {
    async of(provider) {
      const provides = registry.catalogue.tts.get(provider)
      if (provides === undefined) return []
      const { voice } = defaultsOf(provides)
      const named = provides.voices ?? (voice === undefined ? [] : [voice])
      const own = await ofAccount(provider)
      const listed = new Map(own.map((one) => [one.voice, one]))
      for (const name of named) {
        if (listed.has(name)) continue
        const languages = languagesOf(provides, name) ?? []
        listed.set(name, { voice: name, name: provides.voiceNames?.[name] ?? name, languages })
      }
      return [...listed.values()]
    },
  }
}
