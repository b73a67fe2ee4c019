/**
 * How well and how fast passages are found, by words (BM25), by meaning (dense vectors), and by both. Quality is that of a
 * labelled corpus (bench/retrieval/corpus), latency that of 100,000 chunks of one agent in the embedded engine, with how
 * late the event loop runs meanwhile: it carries the audio of calls. With a provider of embeddings (OPENAI_API_KEY, or PATCHBAY_EMBEDDING with OPENAI_BASE_URL) its vectors are used.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pino } from 'pino'
import { loadConfig, processEnvironment } from '../config/load.ts'
import { EmbeddedVectors } from '../plugins/embedded-vectors/embedded-vectors.ts'
import { openEmbeddings } from '../runtime/knowledge/embeddings.ts'
import { termsOf } from '../runtime/knowledge/terms.ts'
import type { VectorMatch, VectorPoint, VectorQuery, VectorStore } from '../runtime/plugin/contract.ts'
import { loadPlugins } from '../runtime/plugin/host.ts'
import { seeded } from '../test/support/phone/numbers.ts'
import { readCorpus } from './retrieval/corpus.ts'
import { mean, ndcgAt10, recallAt } from './retrieval/measures.ts'
import { memoryShelf } from './retrieval/shelf.ts'
import { standIn } from './retrieval/stand-in.ts'
import { quantile } from './support/quantile.ts'

const LARGE_CHUNKS = 100_000
const CHUNKS_A_DOCUMENT = 250
const WORDS_A_CHUNK = 110
const SEARCHES = 300
/** Searched before the clock runs: V8 compiles what it finds hot. */
const WARM_UP = 20
const TOP_K = 4
const DELAY_RESOLUTION_MS = 1
const scope = { workspaceId: 'w', agentId: 'a' }
const signal = new AbortController().signal

interface Embedder {
  model: string
  dimensions: number
  embed(texts: readonly string[]): Promise<Float32Array[]>
}

const LEGS = {
  words: ({ terms }) => ({ terms }),
  meaning: ({ dense }) => ({ terms: termsOf(''), ...(dense && { dense }) }),
  both: ({ terms, dense }) => ({ terms, ...(dense && { dense }) }),
} as const satisfies Record<string, (query: Omit<VectorQuery, 'limit'>) => Omit<VectorQuery, 'limit'>>

export async function run(args: readonly string[]): Promise<void> {
  const embedder = await openEmbedder()
  process.stdout.write(`embeddings: ${embedder.model}, ${embedder.dimensions} numbers\n\n`)
  await measureQuality(embedder)
  const given = args.find((argument) => argument.startsWith('--dimensions='))?.split('=')[1]
  await measureLatency(Number(given ?? 512))
}

async function openEmbedder(): Promise<Embedder> {
  const env = processEnvironment()
  const config = loadConfig(env)
  const log = pino({ level: 'silent' })
  const plugins = await loadPlugins({ config, env, log, signal })
  const embeddings = await openEmbeddings(plugins, config.embedding, log)
  if (embeddings === undefined) return standIn
  return { ...embeddings.identity, embed: (texts) => embeddings.passages(texts, signal) }
}

async function measureQuality(embedder: Embedder): Promise<void> {
  const { documents, questions } = await readCorpus()
  const store = new EmbeddedVectors(memoryShelf(), 2 ** 28, embedder)
  for (const { name, chunks } of documents) {
    const dense = await embedder.embed(chunks)
    const points = chunks.map((text, chunk): VectorPoint => ({ chunk, terms: termsOf(text), dense: dense[chunk]! }))
    await store.upsert(scope, name, points, signal)
  }
  const vectors = await embedder.embed(questions.map(({ text }) => text))
  process.stdout.write(`${documents.length} documents, ${questions.length} questions\n`)
  process.stdout.write('leg        nDCG@10  recall@1  recall@4  recall@10\n')
  for (const [name, leg] of Object.entries(LEGS)) {
    const ranked = await Promise.all(
      questions.map(async ({ text }, i) => {
        const query = { ...leg({ terms: termsOf(text), dense: vectors[i]! }), limit: 30 }
        return documentsOf(await store.search(scope, query, signal))
      }),
    )
    const each = (measure: (ranked: string[], relevant: ReadonlySet<string>) => number) =>
      mean(questions.map(({ answeredBy }, i) => measure(ranked[i]!, answeredBy)))
        .toFixed(3)
        .padStart(8)
    const recall = (k: number) => each((names, relevant) => recallAt(k, names, relevant))
    process.stdout.write(`${name.padEnd(9)} ${each(ndcgAt10)}  ${recall(1)}  ${recall(4)}   ${recall(10)}\n`)
  }
  await store.close()
}

/** Names of documents in the order of their best passage. */
function documentsOf(matches: readonly VectorMatch[]): string[] {
  return [...new Set(matches.map(({ documentId }) => documentId))]
}

async function measureLatency(dimensions: number): Promise<void> {
  const { documents } = await readCorpus()
  const vocabulary = documents.flatMap(({ chunks }) => chunks).flatMap((text) => text.match(/\p{L}+/gu) ?? [])
  const random = seeded(1)
  // Few words are frequent, many are rare, as in any language.
  const word = () => {
    const n = Math.floor(random() ** 3 * 60_000)
    return n < vocabulary.length ? vocabulary[n]! : `word${n}`
  }
  const text = (length: number) => Array.from({ length }, word).join(' ')
  const vector = () => Float32Array.from({ length: dimensions }, () => random() + random() + random() - 1.5)
  const store = new EmbeddedVectors(memoryShelf(), 2 ** 31, { model: 'random', dimensions })
  for (let first = 0; first < LARGE_CHUNKS; first += CHUNKS_A_DOCUMENT) {
    const points = Array.from({ length: CHUNKS_A_DOCUMENT }, (_, chunk): VectorPoint => {
      return { chunk, terms: termsOf(text(WORDS_A_CHUNK)), dense: vector() }
    })
    await store.upsert(scope, `document-${first}`, points, signal)
  }
  const loading = performance.now()
  await search(store, { terms: termsOf('first'), dense: vector() })
  const loadMs = performance.now() - loading
  process.stdout.write(
    `\n${LARGE_CHUNKS} chunks, vectors of ${dimensions} numbers; loaded in ${loadMs.toFixed(0)} ms\n`,
  )
  process.stdout.write('                 search                      event loop delay\n')
  process.stdout.write('leg         p50 ms    p95 ms    max ms    p50 ms    p99 ms    max ms\n')
  for (const [name, leg] of Object.entries(LEGS)) {
    const queries = Array.from({ length: WARM_UP + SEARCHES }, () => leg({ terms: termsOf(text(8)), dense: vector() }))
    for (const query of queries.splice(0, WARM_UP)) await search(store, query)
    const tookMs: number[] = []
    const delay = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MS })
    delay.enable()
    for (const query of queries) {
      const startedMs = performance.now()
      await search(store, query)
      tookMs.push(performance.now() - startedMs)
    }
    delay.disable()
    // The histogram has the time between two looks.
    const delayMs = [delay.percentile(50), delay.percentile(99), delay.max].map((ns) => ns / 1e6 - DELAY_RESOLUTION_MS)
    const shown = [...[0.5, 0.95, 1].map((part) => quantile(tookMs, part)), ...delayMs.map((ms) => Math.max(ms, 0))]
    process.stdout.write(`${name.padEnd(9)} ${shown.map((ms) => ms.toFixed(1).padStart(8)).join('  ')}\n`)
  }
  await store.close()
}

function search(store: VectorStore, query: Omit<VectorQuery, 'limit'>): Promise<VectorMatch[]> {
  return store.search(scope, { ...query, limit: TOP_K }, signal)
}
