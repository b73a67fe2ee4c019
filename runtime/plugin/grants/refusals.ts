import { Counter } from 'prom-client'

/** What the guard refused in this process. The roles put it on their metrics pages. */
export const refusals = new Counter({
  name: 'patchbay_plugin_refusals_total',
  help: 'Attempts to reach what no grant allows, by permission and plugin',
  labelNames: ['permission', 'plugin'] as const,
  registers: [],
})
