import answers from './answers.json' with { type: 'json' }
import sentences from './sentences.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

/** Polish: see German's. */
export { answers, sentences, words }
