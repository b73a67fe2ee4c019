import answers from './answers.json' with { type: 'json' }
import sentences from './sentences.json' with { type: 'json' }
import words from './words.json' with { type: 'json' }

/**
 * German: sentences by the English of each, where what stands in braces is filled in; words of the API, such as states, outcomes and
 * roles; and the API's answers in whole sentences, of which others are shown as they come.
 */
export { answers, sentences, words }
