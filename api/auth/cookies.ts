import type { Services } from '../services.ts'

/** The two cookies of a signed-in user. */

export const ACCESS_COOKIE = 'access_token'
export const REFRESH_COOKIE = 'refresh_token'
const REFRESH_PATH = '/auth'

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

/** Empty tokens remove the cookies. */
export function tokenCookies({ config }: Pick<Services, 'config'>, accessToken: string, refreshToken: string) {
  const secure = config.publicUrl.startsWith('https:')
  const ttlS = (token: string, whenSet: number) => (token === '' ? 0 : whenSet)
  const access = { path: '/', maxAgeS: ttlS(accessToken, config.accessTokenTtlS), secure }
  const refresh = { path: REFRESH_PATH, maxAgeS: ttlS(refreshToken, config.refreshTokenTtlS), secure }
  return [
    ['set-cookie', cookie(ACCESS_COOKIE, accessToken, access)],
    ['set-cookie', cookie(REFRESH_COOKIE, refreshToken, refresh)],
  ] as const
}
