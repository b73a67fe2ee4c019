import { Histogram } from 'prom-client'

/** How long sessions waited for a voice slot in this process, whether they got one or not. */
export const admissionWaits = new Histogram({
  name: 'patchbay_admission_wait_seconds',
  help: 'Wait of a session for a voice slot, by kind and outcome (seated, refused, left)',
  labelNames: ['kind', 'outcome'] as const,
  buckets: [0.005, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60],
  registers: [],
})
