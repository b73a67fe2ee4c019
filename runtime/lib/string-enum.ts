import { Type } from 'typebox'

/** A schema of one of these words; its type is their union. */
export const stringEnum = <const T extends string[]>(...values: readonly [...T]) => Type.Enum(values)
