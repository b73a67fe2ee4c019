import { type DefaultProviders, SPEECH_KINDS } from './default-providers.ts'
import type { PluginRegistry } from './host.ts'

const DOES = { llm: 'think', stt: 'listen', tts: 'speak' } as const
const WHY = { setting: 'as set', key: 'its key is set', model: 'its model is here', free: 'no key is set' } as const

/** For the start log: the default providers of new agents, with their warnings. */
export function describeDefaults(
  { catalogue, plugins, titleOf }: Pick<PluginRegistry, 'catalogue' | 'plugins' | 'titleOf'>,
  defaults: DefaultProviders,
): string[] {
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
  return [`New agents ${parts.join(', ').replace(/, ([^,]*)$/, ' and $1')}`, ...new Set(notices)]
}
