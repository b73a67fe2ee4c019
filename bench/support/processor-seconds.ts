import { readdirSync, readFileSync } from 'node:fs'
import { processUsage } from '../../runtime/process/process-usage.ts'

/**
 * What this process and all that it started used of the processor so far, in seconds by name.
 * @param nameOf by the command line, its words apart by spaces
 */
export function processorSeconds(nameOf: (command: string) => string): Map<string, number> {
  const all = new Map<number, { parentPid: number; command: string; cpuMs: number }>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const usage = Number.isInteger(pid) ? processUsage(pid) : undefined
    if (usage === undefined) continue
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      all.set(pid, { ...usage, command })
    } catch {
      // It ended meanwhile.
    }
  }
  const used = new Map<string, number>()
  for (const [pid, { command, cpuMs }] of all) {
    let above = pid
    while (above > 1 && above !== process.pid) above = all.get(above)?.parentPid ?? 0
    if (above !== process.pid) continue
    const name = nameOf(command)
    used.set(name, (used.get(name) ?? 0) + cpuMs / 1_000)
  }
  return used
}
