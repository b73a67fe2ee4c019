import { collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client'
import { buildInfo } from '../build-info.ts'
import { loopScheduling } from '../realtime.ts'
import { countHandlerFaults } from './handler-faults.ts'

/** Gauges of prom-client whose names end in `_total`, as a counter's must alone; the ones without the ending say more. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

/** The metrics of a process of these roles: memory, CPU, event loop, garbage collection, what it is, and `shared` ones of its modules. */
export function processRegistry(roles: string, shared: readonly unknown[] = []): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  new Gauge({
    name: 'patchbay_process_info',
    help: 'The roles of the process',
    labelNames: ['roles'],
    registers: [registry],
  }).set({ roles }, 1)
  new Gauge({
    name: 'patchbay_build_info',
    help: 'The version and commit that the process runs',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ ...buildInfo() }, 1)
  new Gauge({
    name: 'patchbay_loop_realtime',
    help: '1 while the event loop is scheduled in real time',
    registers: [registry],
    collect() {
      this.set(loopScheduling().scheduling === 'realtime' ? 1 : 0)
    },
  })
  countHandlerFaults(registry)
  // Each counts under labels of its own, which no one type of the library can say.
  for (const metric of shared) registry.registerMetric(metric as Metric)
  return registry
}
