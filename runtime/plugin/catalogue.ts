import { PLUGIN_KINDS, type PluginKind, type Provides } from './contract.ts'
import type { PluginFolder } from './manifest.ts'

/** What can be chosen: per kind, provider name → what it provides. Made from manifests; no plugin code is loaded. */
export type Catalogue = Readonly<Record<PluginKind, ReadonlyMap<string, Provides>>>

export function makeCatalogue(folders: readonly PluginFolder[]): Catalogue {
  const of = (kind: PluginKind) =>
    new Map(
      folders.flatMap(({ name, manifest }) => (manifest?.provides[kind] ? [[name, manifest.provides[kind]]] : [])),
    )
  return Object.fromEntries(PLUGIN_KINDS.map((kind) => [kind, of(kind)])) as unknown as Catalogue
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
export interface UnavailableChoice {
  field: 'provider' | 'model' | 'voice'
  available: string[]
}

/**
 * Checks what an agent names against the catalogue. Undefined when it is available. A provider without a list accepts
 * any name.
 */
export function checkChoice(
  catalogue: Catalogue,
  kind: PluginKind,
  choice: { provider: string; model?: string | undefined; voice?: string | undefined },
): UnavailableChoice | undefined {
  const provides = catalogue[kind].get(choice.provider)
  if (!provides) return { field: 'provider', available: [...catalogue[kind].keys()] }
  for (const [field, list] of [['model', provides.models] as const, ['voice', provides.voices] as const]) {
    const value = choice[field]
    if (value !== undefined && list && list.length > 0 && !list.includes(value)) return { field, available: [...list] }
  }
  return undefined
}

/** The model and voice of a provider when an agent names none: its default, else the first of its list. */
export function defaultsOf(provides: Provides): { model: string | undefined; voice: string | undefined } {
  return {
    model: provides.defaultModel ?? provides.models?.[0],
    voice: provides.defaultVoice ?? provides.voices?.[0],
  }
}
