import { Counter } from 'prom-client'

/** What admission refused in this process, by what was asked for and why. The roles put it on their metrics pages. */
export const admissionRefusals = new Counter({
  name: 'patchbay_admission_refusals_total',
  help: 'Work that was refused or had to wait for want of room, by what was asked for and why',
  labelNames: ['kind', 'reason'] as const,
  registers: [],
})

// A counter that appears with its first count hides that count from `increase()`.
for (const reason of ['line_full', 'waited_too_long']) admissionRefusals.inc({ kind: 'seat', reason }, 0)

/** @param kind what was asked for: phone, web, seat, upload, document, password, chat … */
export function countRefusal(kind: string, reason: string): void {
  admissionRefusals.inc({ kind, reason })
}
