import type { ModelEnd, Provides } from './contract.ts'
import { SPEECH_KINDS, type SpeechKind } from './default-providers.ts'
import type { PluginRegistry } from './host.ts'

/** From so many days before a model ends, doctor and start-up warn. */
const WARN_DAYS = 60
const MS_PER_DAY = 86_400_000

/** One model that somebody uses. */
interface ModelUse {
  kind: SpeechKind
  provider: string
  model: string
}

interface EndingModel extends ModelUse {
  isOver: boolean
  /** In a sentence: when, and what to use instead. */
  text: string
}

type Registry = Pick<PluginRegistry, 'plugins' | 'catalogue' | 'titleOf' | 'servedElsewhere' | 'missingKey'>

/** Why a model can't be used any more, with what to use instead; undefined while it can. */
export function faultOfEnd(title: string, provides: Provides, model: string, nowMs: number): string | undefined {
  const end = provides.ends?.[model]
  return end !== undefined && daysUntil(end, nowMs) <= 0 ? sentence(title, model, end, true) : undefined
}

/** The models of the list that still answer. */
export function livingModels(models: readonly string[], provides: Provides, nowMs: number): string[] {
  return models.filter((model) => faultOfEnd('', provides, model, nowMs) === undefined)
}

/** Of these uses those whose model has ended or soon will, each once, the first end first. */
export function endingModels(registry: Registry, uses: readonly ModelUse[], nowMs: number): EndingModel[] {
  const found = new Map<string, EndingModel & { on: string }>()
  for (const use of uses) {
    const end = registry.catalogue[use.kind].get(use.provider)?.ends?.[use.model]
    if (end === undefined || registry.servedElsewhere(use.provider)) continue
    const days = daysUntil(end, nowMs)
    if (days > WARN_DAYS) continue
    const text = sentence(registry.titleOf(use.provider), use.model, end, days <= 0)
    found.set(`${use.provider} ${use.model}`, { ...use, isOver: days <= 0, text, on: end.on })
  }
  return [...found.values()].sort((a, b) => (a.on < b.on ? -1 : 1)).map(({ on: _, ...ending }) => ending)
}

/** The models agents get that name none, of the providers that are set up. */
export function defaultModelUses({ plugins, missingKey }: Registry): ModelUse[] {
  return plugins.flatMap((plugin) => {
    if (plugin.manifest?.key === undefined || missingKey(plugin.name) !== undefined) return []
    return SPEECH_KINDS.flatMap((kind) => {
      const provides = plugin.manifest?.provides[kind]
      const model = provides && modelOf(kind, provides, plugin.settings.options)
      return model === undefined ? [] : [{ kind, provider: plugin.name, model }]
    })
  })
}

/** The model of a use: of a voice, what the operator's options name, as agents choose voices alone. */
export function modelOf(
  kind: string,
  provides: Provides,
  settings: Readonly<Record<string, unknown>> | undefined,
  chosen?: string,
): string | undefined {
  const own = kind === 'tts' ? settings?.ttsModel : chosen
  return typeof own === 'string' ? own : provides.defaultModel
}

function daysUntil({ on }: ModelEnd, nowMs: number): number {
  return (Date.parse(`${on}T00:00:00Z`) - nowMs) / MS_PER_DAY
}

function sentence(title: string, model: string, { on, successor, advice }: ModelEnd, isOver: boolean): string {
  const cure = advice ?? (successor === undefined ? 'choose another model' : `use "${successor}"`)
  return isOver
    ? `${title} switched "${model}" off on ${on}; ${cure}`
    : `${title} switches "${model}" off on ${on}; ${cure} before that day`
}
