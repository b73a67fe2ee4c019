import { type Static, Type } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'

/** What is said only where a tool, a document, the prompt or an earlier sentence says it. */
export const GROUNDS = ['money', 'date', 'url'] as const
export type Ground = (typeof GROUNDS)[number]

/** What a sentence can be refused for. */
export const GUARD_RULES = ['never', 'patterns', ...GROUNDS, 'max_sentences', 'language'] as const
export type GuardRule = (typeof GUARD_RULES)[number]

/** What of an agent's answers is checked before anybody hears or reads it. */
export const GUARDRAILS = Type.Object({
  /** Words and phrases that are never said. */
  never: Type.Optional(Type.Array(Type.String())),
  /** The same as regular expressions of RE2. */
  patterns: Type.Optional(Type.Array(Type.String())),
  grounded: Type.Optional(Type.Array(stringEnum(...GROUNDS))),
  maxSentences: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Only the conversation's language is spoken. */
  language: Type.Optional(Type.Boolean()),
})
export type Guardrails = Static<typeof GUARDRAILS>
