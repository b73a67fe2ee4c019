/** So long a whistle a letter. */
const LETTER_S = 0.05
const LOUDNESS = 8_000

/** A whistle a letter, higher the later it comes in the alphabet; what is no letter is a rest. */
export async function* whistle(text: string, rateHz: number, signal: AbortSignal): AsyncGenerator<Int16Array> {
  const samples = Math.round(LETTER_S * rateHz)
  for (const letter of text.toLowerCase()) {
    if (signal.aborted) return
    const place = letter.charCodeAt(0) - 97
    const hz = 400 + 40 * place
    const isLetter = place >= 0 && place < 26
    yield Int16Array.from({ length: samples }, (_, n) =>
      isLetter ? LOUDNESS * Math.sin((2 * Math.PI * hz * n) / rateHz) : 0,
    )
  }
}
