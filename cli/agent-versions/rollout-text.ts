interface Interval {
  value: number | null
  low: number | null
  high: number | null
}

/** What the API says of a rollout: the fields that are shown, and those that a change keeps. */
export interface ReportedRollout {
  status: string
  rules: readonly { match: { attribute: string; operator: string; values: readonly string[] }; version: number }[]
  split: readonly { version: number; weight: number }[]
  sticky: string
  guard: {
    figure: string
    min_calls: number
    planned_calls: number
    stop_when: string
    z: number | null
    boundary: number | null
  } | null
  started_at: string
  stopped: { at: string; version: number; serves: number; z: number; boundary: number } | null
  versions: readonly {
    version: number
    calls: number
    success: Interval
    faults: Interval
    disposition: Interval | null
    latency_p95_ms: Interval
    cost_usd: Interval
  }[]
}

/** A rollout for a terminal: each version with its share and what its calls came to, the guard, and whether it was stopped. */
export function rolloutText(agentName: string, rollout: ReportedRollout): string {
  const { rules, split, sticky, guard, stopped } = rollout
  const disposition = guard?.figure.startsWith('disposition:')
    ? guard.figure.slice('disposition:'.length)
    : 'disposition'
  const rows = rollout.versions.map((one) => {
    const weight = split.find(({ version }) => version === one.version)?.weight ?? 0
    const figures = [
      shareOf('success', one.success),
      shareOf(disposition, one.disposition),
      shareOf('faults', one.faults),
      figureOf('latency', one.latency_p95_ms, (ms) => `${Math.round(ms)} ms`),
      figureOf('cost', one.cost_usd, (usd) => `$${usd.toFixed(4)}`),
    ].filter((text) => text !== undefined)
    return `  version ${one.version}: ${percent(weight)}, ${[`${one.calls} calls`, ...(one.calls === 0 ? [] : figures)].join(', ')}`
  })
  const ruled = rules.map(({ match, version }) => {
    return `  ${match.attribute} ${match.operator.replace('_', ' ')} ${match.values.join(', ')}: version ${version}`
  })
  return [
    `Rollout of ${agentName} since ${timeOf(rollout.started_at)}, by ${sticky}`,
    ...ruled,
    ...rows,
    ...(guard === null ? [] : [`  guard: ${guard.figure}, ${judgedText(guard)}`]),
    ...(stopped === null
      ? []
      : [
          `Stopped ${timeOf(stopped.at)}: version ${stopped.version} is worse in ${guard?.figure} (${oddsText(stopped)}); all calls get version ${stopped.serves} until another is published`,
        ]),
  ].join('\n')
}

const judgedText = ({ z, boundary, min_calls }: NonNullable<ReportedRollout['guard']>): string =>
  z === null || boundary === null ? `decides from ${min_calls} calls of each version on` : oddsText({ z, boundary })

const oddsText = ({ z, boundary }: { z: number; boundary: number }): string =>
  `z ${z.toFixed(2)}, stops at ${boundary.toFixed(2)}`

const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`
const timeOf = (instant: string): string => `${instant.slice(0, 16).replace('T', ' ')} UTC`

const shareOf = (name: string, share: Interval | null): string | undefined =>
  share === null ? undefined : figureOf(name, share, percent)

/** `success 55 % (40 %–69 %)`; undefined where nothing is known. */
function figureOf(name: string, { value, low, high }: Interval, text: (value: number) => string): string | undefined {
  if (value === null) return undefined
  const between = low === null || high === null ? '' : ` (${text(low)} to ${text(high)})`
  return `${name} ${text(value)}${between}`
}
