import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * What the first user of an installation shows when they come from another machine: proof that they can read its log or its
 * secrets. It follows from JWT_API_SECRET, so every api node takes the same one, a restart changes nothing and nothing is
 * kept. Worth nothing once there is a user.
 */
export function setupToken(jwtApiSecret: string): string {
  return createHmac('sha256', jwtApiSecret).update('patchbay setup token').digest('base64url').slice(0, 32)
}

export function isSetupToken(jwtApiSecret: string, given: string): boolean {
  const [expected, shown] = [Buffer.from(setupToken(jwtApiSecret)), Buffer.from(given)]
  return shown.length === expected.length && timingSafeEqual(shown, expected)
}

/** The console's first visit with the token filled in, which stands behind `#`: no server and no proxy logs it. */
export function setupLink(publicUrl: string, jwtApiSecret: string): string {
  return `${publicUrl}/#setup=${setupToken(jwtApiSecret)}`
}
