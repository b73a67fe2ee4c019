import type { GuardRule, Guardrails } from '../../call/types/guardrails.ts'

/** Why a sentence is not said. */
export interface Refusal {
  readonly rule: GuardRule
  /** The sentence, or as much of it as there was. */
  readonly sentence: string
  /** What in it broke the rule. */
  readonly found: string
}

/** Nothing is checked. */
export function isUnguarded(rules: Guardrails | undefined): boolean {
  if (rules === undefined) return true
  const { never = [], patterns = [], grounded = [], maxSentences, language = false } = rules
  return never.length + patterns.length + grounded.length === 0 && maxSentences === undefined && !language
}

const REASONS: Readonly<Record<GuardRule, string>> = {
  never: 'These words must not be said',
  patterns: 'Words of this form must not be said',
  money: 'No tool, document or instruction names this amount',
  date: 'No tool, document or instruction names this date',
  url: 'No tool, document or instruction names this address',
  max_sentences: 'The answer is too long',
  language: 'It is in another language than the conversation',
}

/** What the language model gets to know before it answers once more. */
export function reasonOf({ rule, sentence, found }: Refusal): string {
  return [
    `Your answer was stopped before this sentence was said: ${JSON.stringify(sentence)}.`,
    `${REASONS[rule]}: ${JSON.stringify(found)}.`,
    'Go on with the answer without it. Do not mention this note. If you cannot answer without it, say so in one sentence.',
  ].join(' ')
}
