import de from './languages/de.json' with { type: 'json' }
import en from './languages/en.json' with { type: 'json' }
import es from './languages/es.json' with { type: 'json' }
import fr from './languages/fr.json' with { type: 'json' }
import it from './languages/it.json' with { type: 'json' }
import pt from './languages/pt.json' with { type: 'json' }

/** What the demo says and is called in a language: its tools are read, and called, in the callers' own. */
export type Words = typeof en

export const LANGUAGES: Readonly<Record<string, Words>> = { de, en, es, fr, it, pt }
