const TONE_MS = 180
const GAP_MS = 60
const LEVEL = 3_000
const FADE_MS = 30
const TONES_HZ = [523, 659] as const

/** Two soft notes that say "still here" where no voice can: about 0.4 s of 16-bit samples. */
export function chime(sampleRateHz: number): Int16Array {
  const tone = Math.round((TONE_MS * sampleRateHz) / 1000)
  const gap = Math.round((GAP_MS * sampleRateHz) / 1000)
  const fade = (FADE_MS * sampleRateHz) / 1000
  const out = new Int16Array(TONES_HZ.length * tone + gap)
  TONES_HZ.forEach((hz, i) => {
    const start = i * (tone + gap)
    for (let n = 0; n < tone; n++) {
      const envelope = Math.min(1, n / fade, (tone - 1 - n) / fade)
      out[start + n] = Math.round(LEVEL * envelope * Math.sin((2 * Math.PI * hz * n) / sampleRateHz))
    }
  })
  return out
}
