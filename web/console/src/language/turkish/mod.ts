import answers from './answers.json' with { type: 'json' }
import sentences from './sentences.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

/** Turkish: see German's. */
export { answers, sentences, words }
