import { totalmem } from 'node:os'

/** What this process may use at most: the memory of the machine, or what its container (cgroup) allows. */
export function availableMemoryBytes(): number {
  const constrained = process.constrainedMemory()
  // Without a limit it is 0, or a number beyond every machine.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
