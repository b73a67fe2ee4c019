import { createHash } from 'node:crypto'

/** Which version of an agent a call gets while a rollout runs. Pure. */

/** What is known when a call begins. */
export interface RolloutFacts {
  callId: string
  channel: 'phone' | 'web' | 'chat'
  /** The other side: its number, else the session. */
  contact?: string | null | undefined
  /** E.164: the number that was called. */
  calledNumber?: string | null | undefined
  /** Of the other side's number, ISO 3166. */
  country?: string | undefined
  /** Slug. */
  campaign?: string | null | undefined
  variables: Readonly<Record<string, string>>
}

export interface RolloutRule {
  /** `called_number`, `country`, `channel`, `campaign`, `language` or `variable:NAME`. */
  attribute: string
  operator: 'is' | 'is_not' | 'starts_with'
  values: readonly string[]
  version: number
}

export interface RolloutPlan {
  rules: readonly RolloutRule[]
  /** Weights sum to 1. */
  split: readonly { version: number; weight: number }[]
  sticky: 'contact' | 'call'
  /** Kept while weights change, so that contacts stay where they are. */
  seed: string
}

function attributeOf(facts: RolloutFacts, attribute: string): string | undefined {
  const known: Record<string, string | null | undefined> = {
    called_number: facts.calledNumber,
    country: facts.country,
    channel: facts.channel,
    campaign: facts.campaign,
    language: Object.hasOwn(facts.variables, 'language') ? facts.variables.language : undefined,
  }
  const [from, name] = attribute.startsWith('variable:')
    ? [facts.variables, attribute.slice('variable:'.length)]
    : [known, attribute]
  return Object.hasOwn(from, name) ? (from[name] ?? undefined) : undefined
}

function holds({ attribute, operator, values }: RolloutRule, facts: RolloutFacts): boolean {
  const value = attributeOf(facts, attribute)
  if (operator === 'is_not') return value === undefined || !values.includes(value)
  if (value === undefined) return false
  return operator === 'is' ? values.includes(value) : values.some((start) => value.startsWith(start))
}

/** The first rule that holds decides, else the split. Only what the split decided is compared. */
export function chooseVersion(plan: RolloutPlan, facts: RolloutFacts): { version: number; bySplit: boolean } {
  const rule = plan.rules.find((one) => holds(one, facts))
  if (rule !== undefined) return { version: rule.version, bySplit: false }
  const key = plan.sticky === 'contact' ? (facts.contact ?? facts.callId) : facts.callId
  let share = shareOf(`${plan.seed}\0${key}`)
  for (const { version, weight } of plan.split) {
    if (share < weight) return { version, bySplit: true }
    share -= weight
  }
  // Weights that sum to a hair less than 1.
  return { version: plan.split.at(-1)!.version, bySplit: true }
}

const HASH_BYTES = 6

/** From 0 to below 1, the same for the same key. */
function shareOf(key: string): number {
  return createHash('sha256').update(key).digest().readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES)
}
