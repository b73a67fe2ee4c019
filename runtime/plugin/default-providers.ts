import { PatchbayError } from '../lib/errors.ts'
import { nearest } from '../lib/nearest.ts'
import type { PluginRegistry } from './host.ts'
import type { LoadedPlugin } from './load.ts'

export const SPEECH_KINDS = ['llm', 'stt', 'tts'] as const
export type SpeechKind = (typeof SPEECH_KINDS)[number]

/** Who serves new agents that name no provider, and why. */
interface DefaultProvider {
  provider: string
  /** `setting`: the operator named it. `key`: its key is set. `model`: a model for it was downloaded. `free`: none of these. */
  reason: 'setting' | 'key' | 'model' | 'free'
}
export type DefaultProviders = Readonly<Record<SpeechKind, DefaultProvider>>

/** What the operator named, by kind. */
interface NamedDefaults {
  readonly defaultLlm?: string | undefined
  readonly defaultStt?: string | undefined
  readonly defaultTts?: string | undefined
}

const SETTINGS = {
  llm: ['defaultLlm', 'PATCHBAY_DEFAULT_LLM'],
  stt: ['defaultStt', 'PATCHBAY_DEFAULT_STT'],
  tts: ['defaultTts', 'PATCHBAY_DEFAULT_TTS'],
} as const satisfies Record<SpeechKind, readonly [keyof NamedDefaults, string]>

type Registry = Pick<PluginRegistry, 'plugins' | 'catalogue'>

/**
 * The operator's word counts, then the provider of the highest `preference` among those that are set up when it is read: keys may
 * come later. Throws `configuration` where a provider is named that nothing provides.
 */
export function defaultProviders(registry: Registry, named: NamedDefaults): DefaultProviders {
  const of = (kind: SpeechKind): DefaultProvider => {
    const [field, variable] = SETTINGS[kind]
    const provider = named[field]
    if (provider === undefined) return preferred(registry, kind)
    if (!registry.catalogue[kind].has(provider)) throw unknownDefault(registry, kind, variable, provider)
    return { provider, reason: 'setting' }
  }
  for (const kind of SPEECH_KINDS) of(kind)
  return {
    get llm() {
      return of('llm')
    },
    get stt() {
      return of('stt')
    },
    get tts() {
      return of('tts')
    },
  }
}

function preferred({ plugins }: Registry, kind: SpeechKind): DefaultProvider {
  const preferenceOf = (plugin: LoadedPlugin) => plugin.manifest?.provides[kind]?.preference ?? Number.NEGATIVE_INFINITY
  const [best] = plugins
    .filter((plugin) => Number.isFinite(preferenceOf(plugin)) && servesUnasked(plugin, kind))
    .sort((a, b) => preferenceOf(b) - preferenceOf(a) || (a.name < b.name ? -1 : 1))
  if (best === undefined) {
    const reason = `No plugin provides ${kind} by default; set ${SETTINGS[kind][1]}`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const { key, models } = best.manifest ?? {}
  return { provider: best.name, reason: key !== undefined ? 'key' : models !== undefined ? 'model' : 'free' }
}

/** Whether it is used only when named: third-party code, and further instances of a plugin. */
export function isAskedForByName({ settings, isolation, isInstalled }: LoadedPlugin): boolean {
  return settings.plugin !== undefined || isolation === 'process' || isInstalled === true
}

/** Whether agents may get it without anybody's naming it. */
function servesUnasked(plugin: LoadedPlugin, kind: SpeechKind): boolean {
  const { manifest, env, unready } = plugin
  if (manifest === undefined || isAskedForByName(plugin) || unready?.[kind] !== undefined) return false
  const { key } = manifest
  if (key === undefined) return true
  const elsewhere = key.unless !== undefined && Boolean(env[key.unless])
  const isWhole = elsewhere || (key.with ?? []).every((variable) => env[variable])
  return Boolean(env[key.env]) && isWhole && !(elsewhere && key.otherModels === true)
}

function unknownDefault({ catalogue }: Registry, kind: SpeechKind, variable: string, provider: string): PatchbayError {
  const known = [...catalogue[kind].keys()]
  const near = nearest(provider, known)
  const meant = near === undefined ? '' : `; did you mean "${near}"?`
  const reason = `${variable} names "${provider}", which provides no ${kind}${meant} There are ${known.join(', ')}.`
  return new PatchbayError('configuration', {
    params: { reason: meant === '' ? reason.replace(' There', '; there') : reason },
  })
}
