import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import type { EmbeddingProvider, PluginHost, SpeechOptions } from '../../runtime/plugin/contract.ts'
import { endpointOf } from './endpoint.ts'

const DIMENSIONS: Readonly<Record<string, number>> = {
  'text-embedding-3-small': 1536,
  'text-embedding-3-large': 3072,
  'text-embedding-ada-002': 1536,
}
/** OpenAI takes 2,048 texts at once, other servers fewer. */
const BATCH = 128
const TIMEOUT_MS = 30_000

export function makeEmbedding(host: PluginHost, { model = '', settings }: SpeechOptions): EmbeddingProvider {
  const { http, provider } = endpointOf(host)
  const { embeddingDimensions } = settings
  const dimensions = typeof embeddingDimensions === 'number' ? embeddingDimensions : DIMENSIONS[model]
  if (dimensions === undefined) {
    const reason = `The length of the vectors of "${model}" is not known; set embeddingDimensions of "openai" in config/plugins.json`
    throw new PatchbayError('plugin', { params: { reason } })
  }
  const shortened = dimensions !== DIMENSIONS[model] && model.startsWith('text-embedding-3')

  const embedBatch = async (input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const response = await http.fetch('/embeddings', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, input, encoding_format: 'base64', ...(shortened && { dimensions }) }),
      signal: signalWithin(TIMEOUT_MS, signal),
    })
    const { data = [] } = (await response.json()) as { data?: { index: number; embedding: string | number[] }[] }
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => vectorOf(embedding))
    if (vectors.length !== input.length || vectors.some(({ length }) => length !== dimensions)) {
      const reason = `${provider.title} gave ${vectors.length} vectors of ${vectors[0]?.length ?? 0} for ${input.length} texts; "openai" expects ${dimensions} numbers each`
      throw new PatchbayError('plugin', { params: { reason } })
    }
    return vectors
  }

  return {
    dimensions,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (let start = 0; start < texts.length; start += BATCH) {
        // An empty text is refused by the server, and means nothing to it.
        const batch = texts.slice(start, start + BATCH).map((text) => text || ' ')
        vectors.push(...(await embedBatch(batch, signal)))
      }
      return vectors
    },
  }
}

/** Some servers know no base64 and send numbers all the same. */
function vectorOf(embedding: string | number[]): Float32Array {
  if (typeof embedding !== 'string') return Float32Array.from(embedding)
  const bytes = Uint8Array.from(Buffer.from(embedding, 'base64'))
  return new Float32Array(bytes.buffer)
}
