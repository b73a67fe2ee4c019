/** Audio inside Patchbay is 16-bit mono PCM, cut into frames of 20 ms: one frame a tick, in every codec. */
export const FRAME_MS = 20

/** Samples of one frame at a rate. */
export function samplesPerFrame(sampleRateHz: number): number {
  return (sampleRateHz * FRAME_MS) / 1000
}

/** The samples in little-endian bytes; a view where alignment allows, else a copy. An odd last byte is dropped. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const length = bytes.byteLength >> 1
  if (bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, length)
  // Not slice(): that of a Buffer is a view too.
  return new Int16Array(new Uint8Array(bytes.subarray(0, length * 2)).buffer)
}

/** The bytes of samples, as a view. Every platform Patchbay runs on is little-endian. */
export function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
}

/** Index of the first sample louder than `threshold`, or -1. */
export function firstLoud(samples: Int16Array, threshold: number): number {
  for (let i = 0; i < samples.length; i++) if (Math.abs(samples[i]!) > threshold) return i
  return -1
}

/** Index of the last sample louder than `threshold`, or -1. */
export function lastLoud(samples: Int16Array, threshold: number): number {
  for (let i = samples.length - 1; i >= 0; i--) if (Math.abs(samples[i]!) > threshold) return i
  return -1
}

/** Two runs of samples one after the other. */
export function concatSamples(a: Int16Array, b: Int16Array): Int16Array {
  if (a.length === 0) return b
  const out = new Int16Array(a.length + b.length)
  out.set(a)
  out.set(b, a.length)
  return out
}

/** Several runs of samples one after the other. */
export function joinSamples(runs: readonly Int16Array[]): Int16Array<ArrayBuffer> {
  const out = new Int16Array(runs.reduce((sum, run) => sum + run.length, 0))
  let at = 0
  for (const run of runs) {
    out.set(run, at)
    at += run.length
  }
  return out
}
