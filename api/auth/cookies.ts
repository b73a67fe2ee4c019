import type { Services } from '../services.ts'

/** The two cookies of a signed-in user. */

export const ACCESS_COOKIE = 'access_token'
export const REFRESH_COOKIE = 'refresh_token'

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

/** Values of all cookies of that name: a browser sends one of each path that the cookie had over time. */
export function readCookies(header: string, name: string): string[] {
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
}

type SetCookie = readonly ['set-cookie', string]

/** Kept as long as the refresh token, since an expired access token must arrive to be answered `Token expired`. */
export function accessCookie({ config }: Pick<Services, 'config'>, token: string): SetCookie {
  return cookie(config, ACCESS_COOKIE, token, config.refreshTokenTtlS)
}

export function refreshCookie({ config }: Pick<Services, 'config'>, token: string): SetCookie {
  return cookie(config, REFRESH_COOKIE, token, config.refreshTokenTtlS)
}

export function removedCookies({ config }: Pick<Services, 'config'>): SetCookie[] {
  return [cookie(config, ACCESS_COOKIE, '', 0), cookie(config, REFRESH_COOKIE, '', 0)]
}

/** @param maxAgeS 0: the browser forgets it */
export function cookie(
  { publicUrl }: Services['config'],
  name: string,
  value: string,
  maxAgeS: number,
  path = '/',
): SetCookie {
  const secure = publicUrl.startsWith('https:') ? '; Secure' : ''
  return ['set-cookie', `${name}=${value}; Path=${path}; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`]
}
