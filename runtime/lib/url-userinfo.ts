// Up to the last "@" before the path: a password may hold one.
const USERINFO = /(\b[a-z][a-z0-9+.-]{0,30}:\/\/)[^/?#\s"'<>]{1,2000}@/gi

/** The text with user and password of each URL in it replaced by `***`. */
export function withoutUserinfo(text: string): string {
  return text.includes('://') ? text.replace(USERINFO, '$1***@') : text
}
