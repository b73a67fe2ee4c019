import type { ToolResult } from './call-http.ts'
import { fillJson } from './template.ts'

/** Secret values that were collected in a conversation: which tool gets them, and what of them comes back. */

const MASKED = '***'

/** The secret values that a tool lists. */
export function secretsFor(
  { secrets = [] }: { readonly secrets?: readonly string[] },
  known: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return Object.fromEntries(secrets.flatMap((name) => (Object.hasOwn(known, name) ? [[name, known[name]!]] : [])))
}

/** Arguments in which the language model wrote `{{name}}`, with the secret value in its place. Other placeholders stay as they are. */
export function withSecrets(
  input: Record<string, unknown>,
  secrets: Readonly<Record<string, string>>,
): Record<string, unknown> {
  if (Object.keys(secrets).length === 0) return input
  const text = JSON.stringify(input)
  const named = [...text.matchAll(/\{\{\s*([\w.-]{1,100})\s*\}\}/g)].map(([, name = '']) => name)
  const others = Object.fromEntries(named.map((name) => [name, `{{${name}}}`]))
  return fillJson(input, { ...others, ...secrets }) as Record<string, unknown>
}

/** A result without the secret values, should the other side send them back. */
export function withoutSecretValues(result: ToolResult, values: readonly string[]): ToolResult {
  const mask = (text: string): string => values.reduce((rest, value) => rest.replaceAll(value, MASKED), text)
  return {
    ...result,
    output: mask(result.output),
    ...(result.fault === undefined ? {} : { fault: mask(result.fault) }),
    ...(result.reason === undefined ? {} : { reason: mask(result.reason) }),
  }
}
