import { Counter, type Registry } from 'prom-client'
import { faultCounts } from '../../lib/async/faults.ts'

/** Counts on the metrics page what the boundaries of this process caught, from nothing on. */
export function countHandlerFaults(registry: Registry): void {
  new Counter({
    name: 'patchbay_handler_faults_total',
    help: 'Handlers that failed, by the part of the system; each ended a message or a connection, not the process',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      this.reset()
      for (const [kind, count] of faultCounts()) this.inc({ kind }, count)
    },
  })
}
