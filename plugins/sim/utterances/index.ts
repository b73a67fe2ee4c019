import german from './de.json' with { type: 'json' }
import english from './en.json' with { type: 'json' }
import spanish from './es.json' with { type: 'json' }
import french from './fr.json' with { type: 'json' }
import italian from './it.json' with { type: 'json' }
import portuguese from './pt.json' with { type: 'json' }

/** What the recogniser knows of a language. */
interface Sentences {
  language: string
  /** The voice of espeak-ng it is understood in. */
  voice: string
  utterances: readonly string[]
}

/** The built-in sentences; the first language where an agent names none. */
export const SENTENCES: readonly [Sentences, ...Sentences[]] = [
  { language: 'en', voice: 'en-us', utterances: english },
  { language: 'de', voice: 'de', utterances: german },
  { language: 'es', voice: 'es', utterances: spanish },
  { language: 'fr', voice: 'fr-fr', utterances: french },
  { language: 'it', voice: 'it', utterances: italian },
  { language: 'pt', voice: 'pt', utterances: portuguese },
]

/** Those of a language tag; of all languages for `multi`. */
export function sentencesOf(tag = 'en'): readonly Sentences[] {
  if (tag === 'multi') return SENTENCES
  const base = tag.split('-')[0]?.toLowerCase()
  return [SENTENCES.find(({ language }) => language === base) ?? SENTENCES[0]]
}
