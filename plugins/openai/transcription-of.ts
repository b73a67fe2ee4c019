/** Models that take languages and words to listen for as lists; the older ones take a prompt. */
const TAKES_LISTS = /^gpt-(live-)?transcribe/

/** Which model hears, in which language (`multi`: any), and what it should expect, as sessions of the Realtime API have it. */
export function transcriptionOf(
  model: string,
  language: string,
  keyterms: readonly string[],
): Readonly<Record<string, unknown>> {
  // Without a language it tells it from the sound.
  const code = language === 'multi' ? undefined : language.split('-')[0]
  if (TAKES_LISTS.test(model)) {
    return {
      model,
      ...(code === undefined ? {} : { languages: [code] }),
      ...(keyterms.length === 0 ? {} : { keywords: [...keyterms] }),
    }
  }
  const prompt = promptOf(model, keyterms)
  return { model, ...(code === undefined ? {} : { language: code }), ...(prompt === undefined ? {} : { prompt }) }
}

/** Whisper's prompt is a list of words, that of the others a sentence. */
export function promptOf(model: string, keyterms: readonly string[]): string | undefined {
  if (keyterms.length === 0) return undefined
  const list = keyterms.join(', ')
  return /whisper/.test(model) ? list : `Expect these names and words: ${list}.`
}
