const LOOK_EVERY_MS = 1_000
/** In a row: between a page's own code and its first request nothing is asked, too. */
const QUIET_LOOKS = 2

/**
 * Loads Inter once nothing has been asked for two looks: 48 KB that the first page does not wait for. Until then, and where it can't be
 * had, the system's own type face stands there.
 */
export function loadTypeFace(isAsking: () => boolean): void {
  let quiet = 0
  const looking = setInterval(() => {
    quiet = isAsking() ? 0 : quiet + 1
    if (quiet < QUIET_LOOKS) return
    clearInterval(looking)
    import('@fontsource-variable/inter').catch(() => {})
  }, LOOK_EVERY_MS)
}
