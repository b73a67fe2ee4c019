import { readlinkSync } from 'node:fs'

/** The system's id of the calling thread; undefined where threads have none (elsewhere than on Linux). */
export function ownThreadId(): number | undefined {
  try {
    const [, id] = /\/task\/(\d+)$/.exec(readlinkSync('/proc/thread-self')) ?? []
    return id === undefined ? undefined : Number(id)
  } catch {
    return undefined
  }
}
