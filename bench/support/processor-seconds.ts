import { readdirSync, readFileSync } from 'node:fs'

/** Of `sysconf(_SC_CLK_TCK)`, which is the same on every Linux. */
const TICKS_PER_S = 100

/**
 * What this process and all that it started used of the processor so far, in seconds by name.
 * @param nameOf by the command line, its words apart by spaces
 */
export function processorSeconds(nameOf: (command: string) => string): Map<string, number> {
  const all = new Map<number, { parent: number; command: string; seconds: number }>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid)) continue
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      // The name in parentheses may hold anything (proc_pid_stat(5)).
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const seconds = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S
      all.set(pid, { parent: Number(fields[1]), command, seconds })
    } catch {
      // It ended meanwhile.
    }
  }
  const used = new Map<string, number>()
  for (const [pid, { command, seconds }] of all) {
    let above = pid
    while (above > 1 && above !== process.pid) above = all.get(above)?.parent ?? 0
    if (above !== process.pid) continue
    const name = nameOf(command)
    used.set(name, (used.get(name) ?? 0) + seconds)
  }
  return used
}
