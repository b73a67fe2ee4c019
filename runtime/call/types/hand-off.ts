/** What comes of the tool by which an agent hands its call to another: the agent says nothing more. */
export const HANDED_OFF_OUTPUT = 'The next agent has the caller.'

/** Hand-offs of one call. */
export const MAX_HANDOFFS = 5
