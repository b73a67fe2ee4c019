import { shortText } from '../lib/text.ts'

/** What of a tool's answer a language model reads. */
const MAX_OUTPUT_CHARACTERS = 8_000

/** A tool's answer as a language model reads it. A cut says so: JSON without its end looks whole to some models. */
export function toolOutput(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARACTERS) return text
  return `${shortText(text, MAX_OUTPUT_CHARACTERS)}\n[Cut after ${MAX_OUTPUT_CHARACTERS} characters; the rest is missing.]`
}
