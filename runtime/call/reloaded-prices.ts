import type { PluginRegistry } from '../plugin/host.ts'
import type { Reloads } from '../process/reloads.ts'
import { loadPrices, type Prices } from './cost.ts'

interface PricesContext {
  readonly config: { readonly pricesFile?: string | undefined }
  readonly plugins: Pick<PluginRegistry, 'plugins' | 'servedElsewhere'>
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
