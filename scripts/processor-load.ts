import { cpus } from 'node:os'

/** What run.sh found before tests began: others keep the machine busy, and what gives way to them would get nothing. */
export const isMachineBusy = process.env.TEST_MACHINE === 'busy'

/** How busy the machine's processors are, whoever keeps them so. */
export class ProcessorLoad {
  #last = processorTimes()

  /** The share of their time since the last question in which they worked, 0 to 1. */
  busy(): number {
    const before = this.#last
    this.#last = processorTimes()
    const total = this.#last.total - before.total
    return total <= 0 ? 0 : 1 - (this.#last.idle - before.idle) / total
  }
}

/** Milliseconds of all processors since the machine began. What they waited for disks is in neither. */
export function processorTimes(): { idle: number; total: number } {
  let idle = 0
  let total = 0
  for (const cpu of cpus()) {
    idle += cpu.times.idle
    for (const ms of Object.values(cpu.times)) total += ms
  }
  return { idle, total }
}
