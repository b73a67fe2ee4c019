import { type DefaultProviders, SPEECH_KINDS } from './default-providers.ts'
import type { PluginRegistry } from './host.ts'
import { defaultModelUses, endingModels } from './model-ends.ts'

const DOES = { llm: 'think', stt: 'listen', tts: 'speak' } as const
const WHY = { setting: 'as set', key: 'its key is set', model: 'its model is here', free: 'no key is set' } as const

/** For the start log: the default providers of new agents, with their warnings. */
export function describeDefaults(
  registry: Pick<PluginRegistry, 'catalogue' | 'plugins' | 'titleOf' | 'servedElsewhere' | 'missingKey'>,
  defaults: DefaultProviders,
  nowMs = Date.now(),
): string[] {
  const { catalogue, plugins, titleOf } = registry
  const inUse = defaultModelUses(registry).filter(({ kind, provider }) => defaults[kind].provider === provider)
  const endings = endingModels(registry, inUse, nowMs).map(({ text }) => text)
  const parts = SPEECH_KINDS.map((kind) => {
    const { provider, reason } = defaults[kind]
    return `${DOES[kind]} with ${titleOf(provider)} (${WHY[reason]})`
  })
  const notices = SPEECH_KINDS.flatMap((kind) => {
    const notice = catalogue[kind].get(defaults[kind].provider)?.notice
    if (notice === undefined) return []
    // What would do better needs no more than a download.
    return [notice, ...plugins.flatMap(({ unready }) => unready?.[kind] ?? [])]
  })
  return [`New agents ${parts.join(', ').replace(/, ([^,]*)$/, ' and $1')}`, ...new Set([...notices, ...endings])]
}
