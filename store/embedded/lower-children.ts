import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { autogroupOf } from '../../runtime/autogroup.ts'
import { lowerSession } from '../../runtime/low-priority.ts'

const LOOK_MS = 1_000

/**
 * Has the processes that a server starts one by one, each in a session of its own, give way as the server does: PostgreSQL's
 * backends. Ends with the server.
 */
export async function lowerChildren(pid: number | undefined): Promise<void> {
  // Elsewhere they inherit what the server was given.
  if (pid === undefined || autogroupOf(pid) === undefined) return
  let lowered = new Set<string>()
  for (;;) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => undefined)
    if (children === undefined) return
    const ids = children.split(' ').filter((id) => id !== '')
    lowered = new Set(ids.filter((id) => lowered.has(id) || lowerSession(Number(id))))
    await sleep(LOOK_MS, undefined, { ref: false })
  }
}
