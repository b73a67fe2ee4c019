import { signalWithin } from '../lib/async/signal-within.ts'
import { PatchbayError } from '../lib/errors.ts'
import type { EmbeddingIdentity } from '../plugin/contract.ts'
import { isAskedForByName } from '../plugin/default-providers.ts'
import type { PluginRegistry } from '../plugin/host.ts'
import type { Logger } from '../process/log.ts'
import { MAX_DIMENSIONS } from './dense.ts'

/** The meaning of texts as vectors, where the operator has a provider that makes them. */
export interface Embeddings {
  readonly identity: EmbeddingIdentity
  /** One vector a text. Throws what the provider throws. */
  passages(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]>
  /** Undefined when the provider fails or is slow: the words alone still find most of it. */
  query(text: string, signal: AbortSignal): Promise<Float32Array | undefined>
}

/** An answer by words alone beats a later one. */
const QUERY_TIMEOUT_MS = 700
/** Queries whose vectors are kept: the same question is asked by interim and final words, and again by others. */
const MAX_KEPT = 256
const COMPLAINT_INTERVAL_MS = 60_000
const NO_EMBEDDING = 'none'

/**
 * The provider of `setting` (`provider` or `provider/model`), else the first whose key is set; undefined with `none`, and
 * without one. A compatible server is used only when named, as few have embeddings, and so is a
 * third-party plugin.
 * Throws `plugin` when the provider is unknown or can't be used.
 */
export async function openEmbeddings(
  plugins: PluginRegistry,
  setting: string | undefined,
  log: Logger,
): Promise<Embeddings | undefined> {
  if (setting === NO_EMBEDDING) return undefined
  const [named, ...rest] = setting?.split('/') ?? []
  const provider =
    named ||
    plugins.plugins.find(
      (plugin) =>
        plugin.manifest?.provides.embedding !== undefined &&
        !isAskedForByName(plugin) &&
        plugins.missingKey(plugin.name) === undefined &&
        !plugins.servedElsewhere(plugin.name),
    )?.name
  if (provider === undefined) return undefined
  const provides = plugins.catalogue.embedding.get(provider)
  const model = rest.join('/') || provides?.defaultModel || provides?.models?.[0]
  const engine = await plugins.create('embedding', provider, model === undefined ? {} : { model })
  if (engine.dimensions > MAX_DIMENSIONS) {
    const reason = `The vectors of "${provider}" have ${engine.dimensions} numbers; at most ${MAX_DIMENSIONS} can be searched`
    throw new PatchbayError('plugin', { params: { reason } })
  }
  const kept = new Map<string, Promise<Float32Array | undefined>>()
  let complainedAtMs = Number.NEGATIVE_INFINITY
  const complain = (err: unknown): void => {
    if (performance.now() - complainedAtMs < COMPLAINT_INTERVAL_MS) return
    complainedAtMs = performance.now()
    log.warn({ err, provider }, 'Could not embed a question; retrieval uses words alone')
  }
  return {
    identity: { model: `${provider}/${model ?? ''}`, dimensions: engine.dimensions },
    passages: (texts, signal) => engine.embed(texts, signal),
    async query(text, signal) {
      signal.throwIfAborted()
      const known = kept.get(text)
      if (known !== undefined) return known
      // Shared by concurrent callers, so no single caller's signal aborts it.
      const made = engine.embed([text], signalWithin(QUERY_TIMEOUT_MS)).then(
        ([vector]) => vector,
        (error: unknown) => {
          kept.delete(text)
          complain(error)
          return undefined
        },
      )
      kept.set(text, made)
      if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!)
      return made
    },
  }
}
