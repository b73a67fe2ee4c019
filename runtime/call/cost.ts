import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { PatchbayError } from '../lib/errors.ts'
import type { PluginRegistry } from '../plugin/host.ts'
import { firstFault } from '../plugin/manifest.ts'
import type { Reloads } from '../process/reloads.ts'
import type { StageChoices, Usage } from './types/usage.ts'

/** US dollars for each stage; `null` where something was used whose price isn't known. */
export interface StageCosts {
  llmUsd: number | null
  sttUsd: number | null
  ttsUsd: number | null
}

interface UnitPrice {
  inputPerMillionTokens?: number
  outputPerMillionTokens?: number
  cachedInputPerMillionTokens?: number
  cacheWritePerMillionTokens?: number
  audioInputPerMillionTokens?: number
  cachedAudioPerMillionTokens?: number
  audioOutputPerMillionTokens?: number
  perMinute?: number
  perMinuteMulti?: number
  perMillionCharacters?: number
}

export interface Prices {
  /** What this use costs at the prices of that day. */
  costOf(choices: Partial<StageChoices>, usage: Usage, at: Date): StageCosts
  /** What a model or voice costs that day in US dollars; `null` where that isn't known. */
  priceOf(kind: 'llm' | 'stt' | 'tts', provider: string, name: string, at: Date): UnitPrice | null
  /** What the operator asks for a minute of any call. */
  platformUsdPerMinute(at: Date): number
}

const Dated = <T extends Record<string, TSchema>>(fields: T) =>
  Type.Array(
    Type.Object(
      {
        /** The first day it holds, in UTC. */
        from: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' }),
        note: Type.Optional(Type.String()),
        ...fields,
      },
      { additionalProperties: false },
    ),
  )
const Usd = Type.Number({ minimum: 0 })
const LlmPrices = Dated({
  inputPerMillionTokens: Usd,
  outputPerMillionTokens: Usd,
  /** Of tokens read from a cache; absent: as other input. */
  cachedInputPerMillionTokens: Type.Optional(Usd),
  /** Of tokens written to one; absent: as other input. */
  cacheWritePerMillionTokens: Type.Optional(Usd),
  /** Of tokens that are sound; absent: not known. */
  audioInputPerMillionTokens: Type.Optional(Usd),
  /** Absent: as other sound. */
  cachedAudioPerMillionTokens: Type.Optional(Usd),
  audioOutputPerMillionTokens: Type.Optional(Usd),
})
const SttPrices = Dated({
  perMinute: Usd,
  /** Where it follows the caller's language; absent: the same. */
  perMinuteMulti: Type.Optional(Usd),
})
const TtsPrices = Dated({ perMillionCharacters: Usd })
/** Provider, then model or voice: a name, the head of names (`aura-2-*`), or `*` for all others. */
const byModel = <T extends TSchema>(prices: T) => Type.Record(Type.String(), Type.Record(Type.String(), prices))

const PriceTable = Type.Object(
  {
    llm: Type.Optional(byModel(LlmPrices)),
    stt: Type.Optional(byModel(SttPrices)),
    tts: Type.Optional(byModel(TtsPrices)),
    platform: Type.Optional(Dated({ perMinute: Usd })),
  },
  { additionalProperties: false },
)
export type PriceTable = Static<typeof PriceTable>
const validator = Compile(PriceTable)

type Registry = Pick<PluginRegistry, 'plugins' | 'servedElsewhere'>

const SHIPPED = join(import.meta.dirname, '../../config/prices.json')

/**
 * Reads the shipped prices and the operator's, which go first model by model. Throws `configuration` when a file can't be
 * used.
 */
export async function loadPrices(registry: Registry, ownFile?: string): Promise<Prices> {
  const [shipped, own] = await Promise.all([readTable(SHIPPED), ownFile ? readTable(ownFile) : {}])
  return makePrices(shipped, own, registry)
}

interface PricesContext {
  readonly config: { readonly pricesFile?: string | undefined }
  readonly plugins: Registry
  readonly reloads: Pick<Reloads<{ readonly pricesFile?: string | undefined }>, 'watch'>
}

/** The shipped prices and the operator's, read anew at each reload. Throws `configuration` when a file can't be used. */
export async function openPrices({ config, plugins, reloads }: PricesContext): Promise<Prices> {
  let prices = await loadPrices(plugins, config.pricesFile)
  reloads.watch(async ({ pricesFile }) => {
    const next = await loadPrices(plugins, pricesFile)
    return () => {
      prices = next
    }
  })
  return {
    costOf: (choices, usage, at) => prices.costOf(choices, usage, at),
    priceOf: (kind, provider, name, at) => prices.priceOf(kind, provider, name, at),
    platformUsdPerMinute: (at) => prices.platformUsdPerMinute(at),
  }
}

async function readTable(file: string): Promise<PriceTable> {
  try {
    const table: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (validator.Check(table)) return table
    throw new Error(firstFault(validator.Errors(table), 'the file'))
  } catch (cause) {
    const reason = `The prices in "${file}" can't be used: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
}

/** Prices out of two tables, of which `own` goes first. */
export function makePrices(shipped: PriceTable, own: PriceTable, registry: Registry): Prices {
  /** A price in force. The shipped ones are those of the provider itself, not of another server in its place. */
  const find = <K extends 'llm' | 'stt' | 'tts'>(kind: K, provider: string, names: readonly string[], at: Date) => {
    const tables = registry.servedElsewhere(provider) ? [own] : [own, shipped]
    for (const table of tables) {
      const models = table[kind]?.[provider]
      for (const name of names) {
        const dated = models && pricesOf(models as Record<string, NonNullable<typeof models>[string]>, name)
        const price = dated && inForce(dated as readonly { from: string }[], at)
        if (price !== undefined) return price
      }
    }
    return undefined
  }
  const ttsModelOf = (provider: string): string[] => {
    const plugin = registry.plugins.find(({ name }) => name === provider)
    const model = plugin?.settings.options?.ttsModel ?? plugin?.manifest?.provides.tts?.defaultModel
    return typeof model === 'string' ? [model] : []
  }

  return {
    costOf({ llm, stt, tts, language }, usage, at) {
      const llmPrice = llm && (find('llm', llm.provider, [llm.model], at) as Static<typeof LlmPrices>[number])
      const sttPrice = stt && (find('stt', stt.provider, [stt.model], at) as Static<typeof SttPrices>[number])
      const ttsNames = tts ? [tts.voice, ...ttsModelOf(tts.provider)] : []
      const ttsPrice = tts && (find('tts', tts.provider, ttsNames, at) as Static<typeof TtsPrices>[number])
      const { llmInputTokens, llmOutputTokens, sttSeconds, ttsCharacters } = usage
      const sttUsdPerMinute = (language === 'multi' ? sttPrice?.perMinuteMulti : undefined) ?? sttPrice?.perMinute
      const tokensUsd = llmPrice && costOfTokens(usage, llmPrice)
      return {
        llmUsd: llmInputTokens + llmOutputTokens === 0 ? 0 : (tokensUsd ?? null),
        sttUsd: sttSeconds === 0 ? 0 : sttUsdPerMinute === undefined ? null : (sttSeconds / 60) * sttUsdPerMinute,
        ttsUsd: ttsCharacters === 0 ? 0 : ttsPrice ? (ttsCharacters / 1e6) * ttsPrice.perMillionCharacters : null,
      }
    },
    priceOf(kind, provider, name, at) {
      const price = find(kind, provider, kind === 'tts' ? [name, ...ttsModelOf(provider)] : [name], at)
      if (price === undefined) return null
      const { from: _, note: __, ...usd } = price as { from: string; note?: string } & UnitPrice
      return usd
    },
    platformUsdPerMinute(at) {
      return inForce(own.platform ?? shipped.platform ?? [], at)?.perMinute ?? 0
    },
  }
}

/** Input at three prices: fresh, read from a cache, written to one; and sound at its own. Undefined where that isn't known. */
function costOfTokens(usage: Usage, price: Static<typeof LlmPrices>[number]): number | undefined {
  const { llmInputTokens, llmOutputTokens, llmCachedReadTokens: read = 0, llmCacheWriteTokens: written = 0 } = usage
  const { llmAudioInputTokens: heard = 0, llmAudioOutputTokens: spoken = 0, llmCachedAudioTokens: again = 0 } = usage
  const { inputPerMillionTokens: input, outputPerMillionTokens: output } = price
  const { cachedInputPerMillionTokens = input, cacheWritePerMillionTokens = input } = price
  const { audioInputPerMillionTokens: hearing, audioOutputPerMillionTokens: speaking } = price
  if (heard + spoken > 0 && (hearing === undefined || speaking === undefined)) return undefined
  const { cachedAudioPerMillionTokens = hearing ?? 0 } = price
  const fresh = Math.max(0, llmInputTokens - read - written - (heard - again))
  const text =
    fresh * input + Math.max(0, read - again) * cachedInputPerMillionTokens + written * cacheWritePerMillionTokens
  const sound = (heard - again) * (hearing ?? 0) + again * cachedAudioPerMillionTokens + spoken * (speaking ?? 0)
  return (text + sound + Math.max(0, llmOutputTokens - spoken) * output) / 1e6
}

/** The prices of a name: its own, else those of the longest head it begins with. */
function pricesOf<T>(models: Readonly<Record<string, T>>, name: string): T | undefined {
  if (Object.hasOwn(models, name)) return models[name]
  const heads = Object.keys(models).filter((key) => key.endsWith('*') && name.startsWith(key.slice(0, -1)))
  const [longest] = heads.sort((a, b) => b.length - a.length)
  return longest === undefined ? undefined : models[longest]
}

/** The last price that holds on that day. */
function inForce<T extends { from: string }>(prices: readonly T[], at: Date): T | undefined {
  const day = at.toISOString().slice(0, 10)
  return prices
    .filter(({ from }) => from <= day)
    .reduce<T | undefined>((last, price) => (last && last.from > price.from ? last : price), undefined)
}

/** Cents of a cent are kept, the noise of binary fractions is not. */
export function roundUsd(usd: number): number {
  return Math.round(usd * 1e9) / 1e9
}
