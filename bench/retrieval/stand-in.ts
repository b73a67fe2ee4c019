import { words } from '../../runtime/knowledge/terms.ts'

const DIMENSIONS = 512

/**
 * Vectors without a model, for machines without a provider: which letters follow which in the words of a text. They know that
 * "cancelled" is near "cancellation" and nothing of what either means, so they say what fusion does, not how good a model is.
 */
export const standIn = {
  model: `letters (stand-in, no model)`,
  dimensions: DIMENSIONS,
  embed: async (texts: readonly string[]): Promise<Float32Array[]> => texts.map(lettersOf),
}

function lettersOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (const word of words(text)) {
    const padded = `^${word}$`
    for (let size = 3; size <= 4; size++) {
      for (let i = 0; i + size <= padded.length; i++) {
        const h = hash(padded.slice(i, i + size))
        vector[h % DIMENSIONS]! += h & 0x10000 ? 1 : -1
      }
    }
  }
  return vector.map((value) => Math.sign(value) * Math.sqrt(Math.abs(value)))
}

function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 15), 0x85ebca6b)
  return (h ^ (h >>> 13)) >>> 0
}
