let ownActs = 0

/**
 * Runs `act` as the process's own: what it starts before it returns (its children, its worker threads) needs no grant.
 * For the core's supervised services; nothing a plugin can be handed calls it.
 */
export function asProcess<T>(act: () => T): T {
  ownActs++
  try {
    return act()
  } finally {
    ownActs--
  }
}

/** Is the running code inside of `asProcess`? */
export function isOwnAct(): boolean {
  return ownActs > 0
}
