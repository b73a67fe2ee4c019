/** How long a token opens a realtime session: a web call that nobody opened by then never begins. */
export const SESSION_TOKEN_TTL_S = 600
