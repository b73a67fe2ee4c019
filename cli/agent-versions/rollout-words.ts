import { parseArgs } from 'node:util'
import { VERSIONS_USAGE, type VersionsCommand } from './versions-usage.ts'

export interface PublishWords {
  agent: string
  note?: string | undefined
  requireTests?: string | undefined
}

export interface RolloutWords {
  agent: string
  end: boolean
  /** Weights sum to 1. Undefined: as it is. */
  split?: { version: number; weight: number }[] | undefined
  guard?: string | undefined
  minCalls?: number | undefined
  plannedCalls?: number | undefined
  sticky?: string | undefined
}

const TEXT = { type: 'string' } as const
const WEIGHT = /^([1-9]\d{0,8})=(\d{1,3}(?:\.\d+)?)%?$/

/** The words after `patchbay publish`. Throws an Error that says what is wrong with them. */
export function publishWords(argv: readonly string[]): PublishWords {
  const { agent, values } = parsed('publish', argv, { note: TEXT, 'require-tests': TEXT })
  return { agent, note: textOf(values.note), requireTests: textOf(values['require-tests']) }
}

/** The words after `patchbay rollout`. Throws an Error that says what is wrong with them. */
export function rolloutWords(argv: readonly string[]): RolloutWords {
  const { agent, values } = parsed('rollout', argv, {
    ...{ split: TEXT, guard: TEXT, sticky: TEXT, end: { type: 'boolean' } },
    ...{ 'min-calls': TEXT, 'planned-calls': TEXT },
  })
  const { end = false, ...others } = values
  if (end && Object.keys(others).length > 0) throw wrong('rollout', '--end ends the rollout: nothing else is set')
  const split = textOf(values.split)
  return {
    ...{ agent, end: end === true, guard: textOf(values.guard), sticky: textOf(values.sticky) },
    split: split === undefined ? undefined : splitOf(split),
    minCalls: countOf('min-calls', values['min-calls']),
    plannedCalls: countOf('planned-calls', values['planned-calls']),
  }
}

/** `1=80,2=20` as weights that sum to 1. */
function splitOf(text: string): { version: number; weight: number }[] {
  const split = text.split(',').map((part) => {
    const [, version, percent] = WEIGHT.exec(part.trim()) ?? []
    if (version === undefined) throw wrong('rollout', `"${part}" is no version with its percent, such as 2=20`)
    return { version: Number(version), percent: Number(percent) }
  })
  const sum = split.reduce((total, { percent }) => total + percent, 0)
  if (Math.abs(sum - 100) > 0.05) throw wrong('rollout', `The percents of --split sum to ${sum}, not to 100`)
  return split.map(({ version, percent }) => ({ version, weight: percent / 100 }))
}

function countOf(option: string, value: unknown): number | undefined {
  const text = textOf(value)
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw wrong('rollout', `--${option} is a number of calls, not "${text}"`)
  return Number(text)
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const wrong = (command: VersionsCommand, what: string): Error => new Error(`${what}\n${VERSIONS_USAGE[command]}`)

function parsed(
  command: VersionsCommand,
  argv: readonly string[],
  options: Record<string, { type: 'string' | 'boolean' }>,
): { agent: string; values: Record<string, unknown> } {
  let words: { values: Record<string, unknown>; positionals: string[] }
  try {
    words = parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    // Its second sentence is about dashes in positionals.
    throw wrong(command, error instanceof Error ? (error.message.split('. ')[0] ?? '') : String(error))
  }
  const [agent, ...more] = words.positionals
  if (agent === undefined || more.length > 0) throw wrong(command, `Say which agent: patchbay ${command} AGENT`)
  const empty = Object.entries(words.values).find(([, value]) => value === '')
  if (empty !== undefined) throw wrong(command, `--${empty[0]} has no value`)
  return { agent, values: { ...words.values } }
}
