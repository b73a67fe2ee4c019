/** What a language model reads of a transfer that is under way. */
export const TRANSFER_OUTPUT = 'The caller is being transferred.'
