import type { SpokenForms } from './spoken-forms.ts'

/** What is known where an answer is read. */
export interface ReadingContext {
  readonly forms: SpokenForms
  /** Of telephone numbers without a country code; ISO 3166. */
  readonly country: string
  /** IANA. */
  readonly timeZone: string
  readonly nowMs: number
  /** A BCP 47 tag, for dates that are read back. */
  readonly tag: string
}

/** What an answer says. */
export interface Reading {
  /** Normalised: E.164, ISO 8601, digits, an address in small letters. */
  readonly value: string
  /** 0–1. */
  readonly confidence: number
  /** Nothing can be missing: the caller is not waited for. */
  readonly complete: boolean
}

const STRAY_PENALTY = 0.05
const LEAST_CONFIDENCE = 0.3

/** The confidence of a reading beside so many words that are no part of it. */
export const besideStrays = (confidence: number, strays: number): number =>
  Math.max(LEAST_CONFIDENCE, Math.round((confidence - strays * STRAY_PENALTY) * 100) / 100)
