const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'macOS'],
  ['Linux', 'Linux'],
] as const

/** What people call the program of a User-Agent header; the order matters, as each claims to be those before it. */
export function browserOf(userAgent: string): string {
  const of = (names: readonly (readonly [string, string])[]) => names.find(([mark]) => userAgent.includes(mark))?.[1]
  const browser = of(BROWSERS) ?? (userAgent.split('/')[0] || 'Unknown')
  const system = of(SYSTEMS)
  return system ? `${browser} on ${system}` : browser
}
