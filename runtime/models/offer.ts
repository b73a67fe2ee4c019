import type { Manifest, Provides } from '../plugin/contract.ts'
import { type ModelEntry, type ModelKind, voicesOf } from './catalogue.ts'

/** What a plugin that runs models can do with those that are on this machine. */
interface Offer {
  manifest: Manifest
  /** Why a kind can't be used yet, with the cure. */
  unready: Readonly<Partial<Record<'stt' | 'tts', string>>>
}

const DOES = { stt: 'listen', tts: 'speak' } as const

/** What of a plugin is on this machine. */
interface Present {
  /** Names of models. */
  models: ReadonlySet<string>
  /** What runs them; true where the plugin brings it. */
  engine: boolean
}

/** Narrows what a manifest provides to the models that were pulled. Pure. */
export function offerModels(manifest: Manifest, catalogue: readonly ModelEntry[], present: Present): Offer {
  const of = (kind: ModelKind) => catalogue.filter((entry) => entry.kind === kind)
  const unready: Partial<Record<'stt' | 'tts', string>> = {}
  const provides = { ...manifest.provides }
  for (const kind of ['stt', 'tts'] as const) {
    const own = provides[kind]
    if (own === undefined) continue
    const all = of(kind)
    const here = all.filter(({ id }) => present.models.has(id))
    const first = here.length === 0 ? all[0] : undefined
    if (first !== undefined || !present.engine) unready[kind] = missing(manifest, kind, first, present.engine)
    const offered = here.length === 0 ? all : here
    provides[kind] = { ...own, ...(kind === 'stt' ? recognisers(offered) : voices(offered)) }
  }
  return { manifest: { ...manifest, provides }, unready }
}

/** `first`: the model to start with, when none is installed. */
function missing(
  { name, title = name, engine }: Manifest,
  kind: 'stt' | 'tts',
  first: ModelEntry | undefined,
  hasEngine: boolean,
): string {
  const what =
    first === undefined
      ? 'what runs its models'
      : hasEngine
        ? 'no model for it'
        : 'neither a model for it nor what runs it'
  const commands = [
    ...(hasEngine ? [] : [`npm run patchbay models engine (${engine?.megabytes} MB)`]),
    ...(first === undefined ? [] : [`npm run patchbay models pull ${first.id} (${first.megabytes} MB)`]),
  ]
  const is = first === undefined ? 'is not' : 'is'
  return `${title} can't ${DOES[kind]} yet: ${what} ${is} on this machine; run: ${commands.join(', ')}, then restart`
}

const tags = (entries: readonly ModelEntry[]): string[] => [...new Set(entries.flatMap(({ languages }) => languages))]

function recognisers(entries: readonly ModelEntry[]): Provides {
  return {
    models: entries.map(({ id }) => id),
    languages: tags(entries),
    languagesOf: Object.fromEntries(entries.map(({ id, languages }) => [id, [...languages]])),
  }
}

function voices(entries: readonly ModelEntry[]): Provides {
  const each = entries.flatMap((entry) => voicesOf(entry).map((voice) => ({ entry, voice })))
  const byLanguage = new Map<string, string>()
  for (const { entry, voice } of each) {
    for (const tag of entry.languages) if (!byLanguage.has(tag)) byLanguage.set(tag, voice)
  }
  const named = each.map(({ entry, voice }) => {
    const speaker = voice.slice(entry.id.length + 1)
    return [voice, speaker === '' ? entry.title : `${entry.title}, ${speaker}`] as const
  })
  return {
    voices: each.map(({ voice }) => voice),
    voiceNames: Object.fromEntries(named),
    languages: tags(entries),
    languagesOf: Object.fromEntries(each.map(({ entry, voice }) => [voice, [...entry.languages]])),
    defaultVoices: Object.fromEntries(byLanguage),
  }
}
