import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { inBackground } from '../lib/async/boundary.ts'
import { explainFailure, ProviderError } from '../plugin-sdk/provider-error.ts'
import type { PluginKind } from './contract.ts'
import type { CheckHow, PluginRegistry } from './host.ts'
import type { KeyValues } from './stored-keys.ts'

/** How one provider that needs a key is doing. */
export interface ProviderCheckup {
  provider: string
  /** What it provides: `llm, stt`. */
  kinds: string
  state: 'ok' | 'no_key' | 'refused' | 'failed'
  latencyMs?: number
  /** What is wrong and what to do about it. */
  message?: string
}

/** Asks a provider whether it would serve with the key it is given. Never throws. */
export async function checkProvider(
  registry: PluginRegistry,
  provider: string,
  how: Pick<CheckHow, 'tried' | 'own'> = {},
): Promise<ProviderCheckup> {
  const plugin = registry.plugins.find(({ name }) => name === provider)
  const about = { provider, kinds: Object.keys(plugin?.manifest?.provides ?? {}).join(', ') }
  const missing = how.tried === undefined ? registry.missingKey(provider, undefined, how.own) : undefined
  if (missing !== undefined) return { ...about, state: 'no_key', message: missing }
  try {
    const latencyMs = await registry.check(provider, how)
    return { ...about, state: 'ok', ...(latencyMs === undefined ? {} : { latencyMs }) }
  } catch (error) {
    if (!(error instanceof ProviderError)) {
      const message = error instanceof Error ? error.message : String(error)
      return { ...about, state: 'failed', message }
    }
    const { fault, message } = explainFailure({ title: registry.titleOf(provider) }, error)
    return { ...about, state: fault === 'authentication' || fault === 'quota' ? 'refused' : 'failed', message }
  }
}

/** The providers that need a key or a downloaded model, by name. */
export function keyedProviders(registry: PluginRegistry): string[] {
  return registry.plugins.flatMap(({ name, manifest }) => (manifest?.key || manifest?.models ? [name] : []))
}

/** `not_asked`: it has not answered yet. `broken`: the plugin can't be used. */
export interface ProviderState {
  state: ProviderCheckup['state'] | 'broken' | 'not_asked'
  latencyMs?: number
  message?: string
}

export interface ProviderHealth {
  /**
   * Why the provider, or a kind of it, is not usable: its key or its model is missing, its key is refused. Undefined when it may serve.
   * @param own the key of a workspace's own account, which was tried when it was set
   */
  refusal(provider: string, kind?: PluginKind, own?: KeyValues): Promise<string | undefined>
  /** A provider's health, known within this time: it is probed when unknown. */
  state(provider: string, waitMs: number): Promise<ProviderState>
  /**
   * Asks every provider that has its key, and logs what is wrong; `inUse` are those that agents rely on, whose missing keys
   * are reported as well.
   */
  announce(inUse: Iterable<string>): Promise<void>
}

const GOOD_FOR_MS = 300_000
/** Someone who has just corrected a key wants to see it taken. */
const REFUSED_FOR_MS = 10_000

/** Remembers for a while how providers are doing, so that saving agents asks them now and then alone. */
export function createProviderHealth(registry: PluginRegistry, log: Logger): ProviderHealth {
  const known = new Map<string, { checkup: Promise<ProviderCheckup>; untilMs: number }>()
  const keyed = new Set(keyedProviders(registry))
  registry.keys.watch((changed) => {
    for (const provider of changed) known.delete(provider)
  })

  const checkup = (provider: string): Promise<ProviderCheckup> => {
    const last = known.get(provider)
    if (last !== undefined && performance.now() < last.untilMs) return last.checkup
    const entry = { checkup: checkProvider(registry, provider), untilMs: Number.POSITIVE_INFINITY }
    known.set(provider, entry)
    const done = entry.checkup.then(({ state }) => {
      entry.untilMs = performance.now() + (state === 'ok' ? GOOD_FOR_MS : REFUSED_FOR_MS)
    })
    inBackground('plugin', done)
    return entry.checkup
  }

  return {
    async refusal(provider, kind, own) {
      if (!keyed.has(provider)) return undefined
      const missing = registry.missingKey(provider, kind, own)
      if (missing !== undefined || own !== undefined) return missing
      const { state, message } = await checkup(provider)
      // A provider that is away for a moment is no reason to refuse an agent.
      return state === 'refused' ? message : undefined
    },
    async state(provider, waitMs) {
      const fault = registry.plugins.find(({ name }) => name === provider)?.fault
      if (fault) return { state: 'broken', message: fault.message }
      if (!keyed.has(provider)) return { state: 'ok' }
      const missing = registry.missingKey(provider)
      if (missing !== undefined) return { state: 'no_key', message: missing }
      const timer = new AbortController()
      const later = sleep(waitMs, undefined, { signal: timer.signal }).catch(() => undefined)
      const told: ProviderState | undefined = await Promise.race([checkup(provider), later])
      timer.abort()
      return told ?? { state: 'not_asked' }
    },
    async announce(inUse) {
      const wanted = new Set(inUse)
      await Promise.all(
        [...keyed].map(async (provider) => {
          if (registry.missingKey(provider) !== undefined && !wanted.has(provider)) return
          const { state, message, latencyMs } = await checkup(provider)
          if (state === 'ok') log.debug({ provider, latencyMs }, 'A provider answers')
          else log.error({ provider, state }, message ?? `The provider "${provider}" does not serve`)
        }),
      )
    },
  }
}
