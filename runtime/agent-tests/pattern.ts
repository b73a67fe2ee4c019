import { createContext, Script } from 'node:vm'

/** Patterns of tests: words, or a regular expression between slashes that somebody else wrote and that may never end. */

const TIMEOUT_MS = 100
const WRITTEN = /^\/(.+)\/([dgimsuvy]*)$/s

const context = createContext(Object.create(null)) as Record<string, unknown>
const script = new Script('new RegExp(source, flags).test(text)')

/** Why the pattern can't be used; undefined: it can. */
export function patternFault(pattern: string): string | undefined {
  const written = WRITTEN.exec(pattern)
  if (written === null) return undefined
  try {
    new RegExp(written[1] ?? '', written[2])
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Whether the text holds the pattern; undefined: that can't be found out within 100 ms. */
export function holds(pattern: string, text: string): boolean | undefined {
  const written = WRITTEN.exec(pattern)
  if (written === null) return plain(text).includes(plain(pattern))
  context.source = written[1]
  // A sticky or global expression remembers where it stood.
  context.flags = (written[2] ?? '').replace(/[gy]/g, '')
  context.text = text
  try {
    return script.runInContext(context, { timeout: TIMEOUT_MS }) === true
  } catch {
    return undefined
  }
}

const plain = (text: string): string => text.toLowerCase().replace(/\s+/g, ' ').trim()

export const isWrittenPattern = (text: string): boolean => WRITTEN.test(text)

/**
 * Whether a value is what a test wrote: objects hold the wanted fields, lists are as long, texts are equal whatever their case or hold
 * the written pattern. Undefined: a pattern can't be judged.
 */
export function fits(wanted: unknown, value: unknown): boolean | undefined {
  if (typeof wanted === 'string') {
    const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (!isScalar) return false
    return isWrittenPattern(wanted) ? holds(wanted, String(value)) : plain(String(value)) === plain(wanted)
  }
  if (typeof wanted === 'number' && typeof value === 'string') return value.trim() !== '' && Number(value) === wanted
  if (typeof wanted !== 'object' || wanted === null) return wanted === value
  if (typeof value !== 'object' || value === null || Array.isArray(wanted) !== Array.isArray(value)) return false
  if (Array.isArray(wanted) && wanted.length !== (value as unknown[]).length) return false
  let all: boolean | undefined = true
  for (const [key, part] of Object.entries(wanted)) {
    const one = Object.hasOwn(value, key) ? fits(part, (value as Record<string, unknown>)[key]) : false
    if (one === false) return false
    if (one === undefined) all = undefined
  }
  return all
}
