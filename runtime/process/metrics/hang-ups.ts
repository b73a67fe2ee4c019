import { Counter, Gauge } from 'prom-client'

/** Calls that a carrier was asked to end. The roles put them on their metrics pages. */
export const hangUpMetrics = {
  pending: new Gauge({
    name: 'patchbay_carrier_hangups_pending',
    help: 'Calls that their carrier did not end when it was asked first, and is asked again to end',
    registers: [],
  }),
  failed: new Counter({
    name: 'patchbay_carrier_hangups_failed_total',
    help: 'Calls that their carrier did not end for as long as it was asked: they may still run there',
    registers: [],
  }),
}
