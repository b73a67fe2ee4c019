import { type Static, Type } from 'typebox'
import { stringEnum } from '../../lib/string-enum.ts'

/** What kinds of values an agent collects from callers. */
export const COLLECT_TYPES = [
  'name',
  'email',
  'phone',
  'date',
  'time',
  'address',
  'number',
  'digits',
  'choice',
  'free',
] as const
export type CollectType = (typeof COLLECT_TYPES)[number]

/** A value that an agent collects from callers, who dictate, spell or key it. */
export const COLLECT_ITEM = Type.Object({
  name: Type.String(),
  type: stringEnum(...COLLECT_TYPES),
  /** The question; absent: the language's for the type. */
  prompt: Type.Optional(Type.String()),
  /** The value is read back and confirmed. */
  spellBack: Type.Boolean(),
  /** The value is for tools alone. */
  secret: Type.Boolean(),
  /** Questions until it is given up. */
  attempts: Type.Integer({ minimum: 1 }),
  /** Of `choice`. */
  options: Type.Optional(Type.Array(Type.String())),
  /** Of `digits`: how many there are. */
  length: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Of `digits`: the check digit is Luhn's. */
  luhn: Type.Optional(Type.Boolean()),
})
export type CollectItem = Static<typeof COLLECT_ITEM>
