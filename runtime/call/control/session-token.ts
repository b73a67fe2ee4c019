/** How long a token opens a realtime session: a web call not opened by then is discarded. */
export const SESSION_TOKEN_TTL_S = 600
