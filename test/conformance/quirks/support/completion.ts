import type { Reply } from './scripted-server.ts'

/** A streamed chat completion of these deltas; the usages go with the last chunks, one each. */
export function completion(
  deltas: readonly object[],
  finish_reason: string,
  usages: readonly (object | null)[] = [],
): () => Reply {
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
    { choices: [{ index: 0, delta: {}, finish_reason }] },
  ]
  const from = chunks.length - usages.length
  const told = chunks.map((chunk, i) => (i < from ? chunk : { ...chunk, usage: usages[i - from] }))
  return () => ({ pieces: [...told.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'] })
}
