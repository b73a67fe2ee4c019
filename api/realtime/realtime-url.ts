/** Headers that say under which address the client reached this instance. */
export const ADDRESS_HEADERS = ['host', 'x-forwarded-host', 'x-forwarded-proto'] as const

const HOST = /^[A-Za-z0-9.-]+(:\d{1,5})?$|^\[[0-9a-fA-F:]+\](:\d{1,5})?$/

/**
 * Where a client opens its session, or a supervisor listens: `PUBLIC_URL` where the operator set one, else the address the client itself used, which is the
 * only one known to lead here from where it is.
 */
export function realtimeUrl(
  config: { readonly publicUrl: string; readonly publicUrlGiven: boolean },
  header: (name: string) => string,
  token: string,
  path: '/realtime' | '/listen' = '/realtime',
): string {
  const host = header('x-forwarded-host') || header('host')
  const scheme = header('x-forwarded-proto') === 'https' ? 'wss' : 'ws'
  const base =
    config.publicUrlGiven || !HOST.test(host) ? config.publicUrl.replace(/^http/, 'ws') : `${scheme}://${host}`
  return `${base}${path}?token=${token}`
}
