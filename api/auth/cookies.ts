/** The two cookies of a signed-in user. */

export const ACCESS_COOKIE = 'access_token'
export const REFRESH_COOKIE = 'refresh_token'
export const REFRESH_PATH = '/auth'

/** Value of the first cookie of that name in a Cookie header; empty when absent. */
export function readCookie(header: string, name: string): string {
  let from = 0
  while (from < header.length) {
    const end = header.indexOf(';', from)
    const pair = header.slice(from, end === -1 ? undefined : end).trim()
    if (pair.startsWith(name) && pair[name.length] === '=') return pair.slice(name.length + 1)
    if (end === -1) break
    from = end + 1
  }
  return ''
}

/** A Set-Cookie value. `maxAgeS` 0 removes the cookie. */
export function cookie(
  name: string,
  value: string,
  options: { path: string; maxAgeS: number; secure: boolean },
): string {
  const secure = options.secure ? '; Secure' : ''
  return `${name}=${value}; Path=${options.path}; Max-Age=${options.maxAgeS}; HttpOnly; SameSite=Lax${secure}`
}
