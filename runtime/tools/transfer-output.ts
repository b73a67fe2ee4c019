/** What a language model reads of a transfer that is under way. */
export const TRANSFERRING = 'The caller is being transferred.'
