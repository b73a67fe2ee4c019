/** Names of one conversation's dynamic variables. */
export const MAX_VARIABLES = 200
/** Their names and values, as JSON in UTF-8. */
export const MAX_VARIABLES_BYTES = 64 << 10
