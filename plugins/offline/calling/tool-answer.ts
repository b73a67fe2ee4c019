import { splitSentences } from '../../../runtime/plugin-sdk/speech/sentences.ts'
import type { Language } from '../languages/language.ts'
import { words } from '../words.ts'
import { spokenName } from './parameters.ts'

/** Words of an answer that is still listened to. */
const MAX_WORDS = 40
const MAX_READ = 8_000
const MAX_FIGURES = 5
const MAX_ITEMS = 3
const MAX_VALUE_CHARACTERS = 80
/** Fields whose text is an answer by itself. */
const SAID_FIELDS = ['message', 'answer', 'say', 'text', 'summary', 'result', 'detail', 'description']
const FAULT_FIELDS = ['error', 'errors', 'fault']
const FAILED =
  /^(?:the request failed|wrong arguments|there is no tool|an error|error\b|tool .* failed|that is not possible)/i
const TRANSFERRING = /\bis being transferred\b/i
const UNSPEAKABLE = /^(?:https?:|data:|[\da-f]{8}-[\da-f]{4}-)|[{}<>]/i

/** What a tool answered, as a sentence for the caller: its own words and figures, and nothing else. */
export function sayToolAnswer(content: string, { say, code }: Language): string {
  const text = content.slice(0, MAX_READ).trim()
  const phrase = /Say to the caller: ("(?:[^"\\]|\\.)*")/.exec(text)?.[1]
  if (phrase !== undefined) return String(parsed(phrase))
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return sentence(String(value), { say, code })
  if (!Array.isArray(value)) {
    const fields = value as Record<string, unknown>
    const fault = FAULT_FIELDS.find(
      (field) => fields[field] !== undefined && fields[field] !== null && fields[field] !== false,
    )
    const words = SAID_FIELDS.map((field) => fields[field]).find(isSayable)
    const failed = fields.ok === false || fields.success === false || fault !== undefined
    if (failed) {
      const reason = words ?? (fault !== undefined && isSayable(fields[fault]) ? fields[fault] : fields.reason)
      return isSayable(reason) ? `${say.failed} ${short(reason, code)}` : say.failed
    }
    if (isSayable(words)) return short(words, code)
  }
  const told = figures(value, say)
  return told === '' ? say.done : ended(told.slice(0, 1).toUpperCase() + told.slice(1))
}

function sentence(text: string, { say, code }: Pick<Language, 'say' | 'code'>): string {
  if (TRANSFERRING.test(text)) return say.moment
  if (FAILED.test(text)) return say.failed
  if (text === '' || /^(?:done|ok|okay|success|null|true|undefined)\.?$/i.test(text)) return say.done
  return short(text, code)
}

/** The first sentences of a text, as many as are listened to. */
function short(text: string, code: string): string {
  const said: string[] = []
  let count = 0
  for (const one of splitSentences(text.replace(/\s+/g, ' ').trim(), code)) {
    const length = words(one).length
    if (said.length > 0 && count + length > MAX_WORDS) break
    count += length
    said.push(one)
  }
  return ended(
    said
      .join(' ')
      .split(/\s+/)
      .slice(0, 2 * MAX_WORDS)
      .join(' '),
  )
}

function figures(value: unknown, say: Language['say']): string {
  if (Array.isArray(value)) {
    return value
      .slice(0, MAX_ITEMS)
      .map((item) => scalar(item, say) ?? (isFields(item) ? title(item, say) : ''))
      .filter((one) => one !== '')
      .join('; ')
  }
  if (!isFields(value)) return ''
  const entries = Object.entries(value).filter(([name]) => name !== 'ok' && name !== 'success')
  // An answer in an envelope: {"data": {…}}.
  if (entries.length === 1 && typeof entries[0]?.[1] === 'object') return figures(entries[0][1], say)
  return entries
    .flatMap(([name, one]) => {
      const said = scalar(one, say) ?? (Array.isArray(one) ? figures(one, say) : undefined)
      return said === undefined || said === '' ? [] : [`${spokenName(name)}: ${said}`]
    })
    .slice(0, MAX_FIGURES)
    .join(', ')
}

function title(item: Record<string, unknown>, say: Language['say']): string {
  for (const field of ['name', 'title', 'label', ...SAID_FIELDS]) if (isSayable(item[field])) return item[field]
  return figures(item, say)
}

function scalar(value: unknown, say: Language['say']): string | undefined {
  if (typeof value === 'boolean') return value ? say.yes : say.no
  if (typeof value === 'number') return String(value)
  return isSayable(value) && value.length <= MAX_VALUE_CHARACTERS ? value.trim() : undefined
}

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isSayable = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && !UNSPEAKABLE.test(value.trim())
const ended = (text: string): string => (/[.!?…。]$/.test(text) ? text : `${text}.`)

/** JSON, also within a string of JSON; anything else is text. */
function parsed(text: string): unknown {
  let value: unknown = text
  for (let depth = 0; depth < 2 && typeof value === 'string' && /^\s*["[{]/.test(value); depth++) {
    try {
      value = JSON.parse(value)
    } catch {
      return value
    }
  }
  return value
}
