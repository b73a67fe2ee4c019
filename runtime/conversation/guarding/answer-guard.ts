import type { EventOf } from '../../call/log/events.ts'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { SpokenLanguage } from '../hearing/spoken-language.ts'
import { Guard } from './guard.ts'
import type { GuardAction } from './guard-answer.ts'
import { isUnguarded, type Refusal } from './refusal.ts'

/** What checks an agent's answers before they are said. */
export interface AnswerGuard {
  readonly guard: Guard
  /** Said in place of an answer that was refused twice. */
  phrase(): string
  refused(refusal: Refusal, action: GuardAction): void
}

const MAX_SENTENCE = 500
const MAX_FOUND = 200

/** The checks of one conversation; undefined: the agent has none. `tell` gets each refusal. */
export function answerGuard(
  { guardrails }: Pick<AgentSpec, 'guardrails'>,
  spoken: () => Pick<SpokenLanguage, 'tag' | 'language'>,
  tell: (event: EventOf<'guarded'>) => void,
): AnswerGuard | undefined {
  if (guardrails === undefined || isUnguarded(guardrails)) return undefined
  return {
    guard: new Guard(guardrails, () => spoken().tag),
    phrase: () => spoken().language.phrases.cannotSay,
    refused: ({ rule, sentence, found }, action) =>
      tell({
        ...{ type: 'guarded', rule, action },
        ...{ sentence: sentence.trim().slice(0, MAX_SENTENCE), found: found.slice(0, MAX_FOUND) },
      }),
  }
}
