import { cpus } from 'node:os'

/** How busy the machine's processors are, whoever keeps them so. */
export class ProcessorLoad {
  #last = times()

  /** The share of their time since the last question in which they worked, 0 to 1. */
  busy(): number {
    const before = this.#last
    this.#last = times()
    const total = this.#last.total - before.total
    return total <= 0 ? 0 : 1 - (this.#last.idle - before.idle) / total
  }
}

function times(): { idle: number; total: number } {
  let idle = 0
  let total = 0
  for (const cpu of cpus()) {
    idle += cpu.times.idle
    for (const ms of Object.values(cpu.times)) total += ms
  }
  return { idle, total }
}
