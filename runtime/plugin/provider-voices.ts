import { inBackground } from '../lib/async/boundary.ts'
import type { Logger } from '../process/log.ts'
import { defaultsOf, languagesOf } from './catalogue.ts'
import type { ListedVoice } from './contract.ts'
import type { PluginRegistry } from './host.ts'
import type { KeyValues } from './stored-keys.ts'

/** The voices agents may name. */
export interface ProviderVoices {
  /**
   * Those of the manifest and those of the account, sorted as the provider lists them. Never throws.
   * @param own the key of a workspace's own account, in place of the operator's
   */
  of(provider: string, own?: KeyValues): Promise<readonly ListedVoice[]>
}

const ASK_TIMEOUT_MS = 3_000
const GOOD_FOR_MS = 600_000
const FAILED_FOR_MS = 30_000
/** Accounts whose voices are remembered; of more the oldest are asked again. */
const MAX_ACCOUNTS = 500

/** Asks providers now and then alone which voices their account has. */
export function createProviderVoices(registry: PluginRegistry, log: Logger): ProviderVoices {
  const known = new Map<string, { voices: Promise<readonly ListedVoice[]>; untilMs: number }>()
  registry.keys.watch((changed) => {
    for (const provider of changed) known.delete(provider)
  })

  const ask = async (
    provider: string,
    own?: KeyValues,
  ): Promise<{ voices: readonly ListedVoice[]; goodForMs: number }> => {
    if (registry.missingKey(provider, 'tts', own) !== undefined) return { voices: [], goodForMs: GOOD_FOR_MS }
    try {
      const voices = await registry.voices(provider, { timeoutMs: ASK_TIMEOUT_MS, own })
      return { voices: voices ?? [], goodForMs: GOOD_FOR_MS }
    } catch (err) {
      log.debug({ err, provider }, 'The voices of a provider could not be listed')
      return { voices: [], goodForMs: FAILED_FOR_MS }
    }
  }

  const ofAccount = (provider: string, own?: KeyValues): Promise<readonly ListedVoice[]> => {
    const account = own === undefined ? provider : `${provider} ${JSON.stringify(own)}`
    const last = known.get(account)
    if (last !== undefined && performance.now() < last.untilMs) return last.voices
    const asked = ask(provider, own)
    const entry = { voices: asked.then(({ voices }) => voices), untilMs: Number.POSITIVE_INFINITY }
    known.delete(account)
    known.set(account, entry)
    if (known.size > MAX_ACCOUNTS) known.delete(known.keys().next().value!)
    const done = asked.then(({ goodForMs }) => {
      entry.untilMs = performance.now() + goodForMs
    })
    inBackground('plugin', done)
    return entry.voices
  }

  return {
    async of(provider, account) {
      const provides = registry.catalogue.tts.get(provider)
      if (provides === undefined) return []
      const { voice } = defaultsOf(provides)
      const named = provides.voices ?? (voice === undefined ? [] : [voice])
      const own = await ofAccount(provider, account)
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
