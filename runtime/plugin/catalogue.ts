import { PLUGIN_KINDS, type PluginKind, type Provides } from './contract.ts'
import type { PluginFolder, PluginSettings } from './manifest.ts'
import { faultOfEnd, livingModels } from './model-ends.ts'

/** What can be chosen: per kind, provider name → what it provides. Made from manifests; no plugin code is loaded. */
export type Catalogue = Readonly<Record<PluginKind, ReadonlyMap<string, Provides>>>

/** It may be added to: models come while the process runs. */
export function makeCatalogue(
  folders: readonly (PluginFolder & { settings?: PluginSettings })[],
): Record<PluginKind, Map<string, Provides>> {
  const of = (kind: PluginKind) =>
    new Map(
      folders.flatMap(({ name, manifest, settings }) => {
        const provides = manifest?.provides[kind]
        return provides ? [[name, withNamed(withDescribed(provides, settings?.options ?? {}), settings?.options)]] : []
      }),
    )
  return Object.fromEntries(PLUGIN_KINDS.map((kind) => [kind, of(kind)])) as unknown as Record<
    PluginKind,
    Map<string, Provides>
  >
}

function withDescribed(provides: Provides, options: object): Provides {
  if (provides.described === undefined) return provides
  const found = provides.described.split('.').reduce<unknown>((at, key) => Object(at)[key], options)
  const names = Object.keys(Object(found))
  return {
    ...provides,
    ...(provides.models && { models: [...provides.models, ...names] }),
    ...(provides.voices && { voices: [...provides.voices, ...names] }),
  }
}

/** With the names that the operator's option adds. */
function withNamed(provides: Provides, options: Readonly<Record<string, unknown>> | undefined): Provides {
  const own = provides.namesOption === undefined ? undefined : options?.[provides.namesOption]
  return Array.isArray(own) ? { ...provides, names: [...(provides.names ?? []), ...own.map(String)] } : provides
}

/** Whether a model of a provider is one of speech to speech. */
export function isRealtimeModel(
  catalogue: Pick<Catalogue, 'realtime'>,
  provider: string,
  model: string | undefined,
): boolean {
  const { models = [], names = [] } = catalogue.realtime.get(provider) ?? {}
  return model !== undefined && (models.includes(model) || names.some((glob) => matches(glob, model)))
}

/** What serves where an agent names a language model: one of speech to speech may stand in its place. */
function providesOf(catalogue: Catalogue, kind: PluginKind, provider: string): Provides | undefined {
  const provides = catalogue[kind].get(provider)
  const realtime = kind === 'llm' ? catalogue.realtime.get(provider) : undefined
  if (provides === undefined || realtime === undefined) return provides ?? realtime
  if (!provides.models?.length || !realtime.models?.length) return { ...provides, models: [] }
  return {
    ...provides,
    models: [...provides.models, ...realtime.models],
    ends: { ...provides.ends, ...realtime.ends },
  }
}

function isJsonObject(text: string): boolean {
  try {
    return text.trimStart().startsWith('{') && typeof JSON.parse(text) === 'object'
  } catch {
    return false
  }
}

/** The provider of a kind the process has one of: the one whose variable is set, else the one that needs none. */
export function chosenProvider(
  catalogue: Catalogue,
  kind: 'vectorstore' | 'objectstore',
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const all = [...catalogue[kind]]
  const chosen = all.find(([, { chosenBy }]) => chosenBy !== undefined && env[chosenBy])
  return (chosen ?? all.find(([, { chosenBy }]) => chosenBy === undefined))?.[0]
}

/** A choice the catalogue doesn't have, and what it has instead. */
interface UnavailableChoice {
  field: 'provider' | 'model' | 'voice'
  available: string[]
  /** The provider has switched it off; the sentence names what takes its place. */
  ended?: string
}

/**
 * Checks what an agent names against the catalogue. Undefined when it is available. A provider without a list accepts
 * any name.
 */
export function checkChoice(
  catalogue: Catalogue,
  kind: PluginKind,
  choice: { provider: string; model?: string | undefined; voice?: string | undefined },
  nowMs = Date.now(),
): UnavailableChoice | undefined {
  const provides = providesOf(catalogue, kind, choice.provider)
  if (!provides) return { field: 'provider', available: [...catalogue[kind].keys()] }
  for (const [field, list] of [['model', provides.models] as const, ['voice', provides.voices] as const]) {
    const value = choice[field]
    const ended = value === undefined ? undefined : faultOfEnd(choice.provider, provides, value, nowMs)
    if (ended !== undefined) return { field, available: livingModels(list ?? [], provides, nowMs), ended }
    if (value === undefined || !list || list.length === 0 || list.includes(value)) continue
    if (provides.described !== undefined && isJsonObject(value)) continue
    return { field, available: [...list] }
  }
  return undefined
}

/** The first subtag, small letters. */
const baseOf = (tag: string): string => (tag.split('-')[0] ?? '').toLowerCase()

/** From left to right once: a pattern of many stars could make an expression try every way to share out the name. */
function matches(glob: string, name: string): boolean {
  const [start = '', ...parts] = glob.split('*')
  const end = parts.pop()
  if (end === undefined) return name === start
  if (!name.startsWith(start)) return false
  let at = start.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return name.length - at >= end.length && name.endsWith(end)
}

/** The languages a model or voice of a provider knows; undefined: any. */
export function languagesOf(provides: Provides, name: string | undefined): readonly string[] | undefined {
  const own = Object.entries(provides.languagesOf ?? {}).find(([glob]) => name !== undefined && matches(glob, name))
  const list = own?.[1] ?? provides.languages
  return list && list.length > 0 ? list : undefined
}

/** The tag as the provider's list has it: itself, or its language without the region. Undefined: it is not in the list. */
export function listedLanguage(provides: Provides, name: string | undefined, tag: string): string | undefined {
  const list = languagesOf(provides, name)
  if (list === undefined) return tag
  const small = tag.toLowerCase()
  return list.find((one) => one.toLowerCase() === small) ?? list.find((one) => one.toLowerCase() === baseOf(tag))
}

/**
 * The model and voice of a provider when an agent names none: its default, else the first of its list; where that doesn't
 * know the agent's language, the first that does.
 */
export function defaultsOf(
  provides: Provides,
  language?: string,
): { model: string | undefined; voice: string | undefined } {
  const model = provides.defaultModel ?? provides.models?.[0]
  const voice = provides.defaultVoice ?? provides.voices?.[0]
  if (language === undefined) return { model, voice }
  const knows = (name: string) => listedLanguage(provides, name, language) !== undefined
  const { models, voices, defaultVoices = {} } = provides
  const [tag, base] = [language.toLowerCase(), baseOf(language)]
  // A voice may bear the name of its language.
  const bears = (name: string) => (voices?.includes(name) ? name : undefined)
  const suits = defaultVoices[language] ?? defaultVoices[base] ?? bears(tag)
  return {
    model: model === undefined || knows(model) ? model : (models?.find(knows) ?? model),
    voice: suits ?? (voice === undefined || knows(voice) ? voice : (bears(base) ?? voices?.find(knows) ?? voice)),
  }
}
