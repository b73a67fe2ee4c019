/** Until a worker has room: one that starts, or whose machine is overloaded for a moment, has none. */
const ROOM_MS = 120_000

/** Opens a call again, as long as what it fails with says that no voice worker is free. */
export async function withRoom<T>(open: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const endMs = performance.now() + ROOM_MS
  for (;;) {
    try {
      return await open()
    } catch (error) {
      if (!String(error).includes('no_capacity') || performance.now() > endMs || signal?.aborted) throw error
    }
  }
}
