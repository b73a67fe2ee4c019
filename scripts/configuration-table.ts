/**
 * Writes the table of docs/configuration.md from config/schema.ts: `node scripts/configuration-table.ts`. A test fails
 * while the two differ.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SETTINGS, type Setting } from '../config/schema.ts'

const PAGE = join(import.meta.dirname, '..', 'docs/configuration.md')
const BEGIN = '<!-- configuration: made by scripts/configuration-table.ts -->'
const END = '<!-- /configuration -->'

const RELOADED = ' Taken anew by `patchbay reload`.'

/** The Markdown table of every setting. */
export function configurationTable(): string {
  const rows = (Object.values(SETTINGS) as Setting[]).map(
    (setting) =>
      `| \`${setting.env}\` | ${typeOf(setting)} | ${defaultOf(setting)} | ${setting.description}${setting.reload === true ? RELOADED : ''} |`,
  )
  return ['| variable | type | default | meaning |', '|---|---|---|---|', ...rows].join('\n')
}

/** `text` with the table between its two marks replaced. Throws when the marks are missing. */
export function withTable(text: string): string {
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END)
  if (begin === -1 || end < begin) throw new Error(`docs/configuration.md has no "${BEGIN}" … "${END}"`)
  return `${text.slice(0, begin + BEGIN.length)}\n${configurationTable()}\n${text.slice(end)}`
}

function typeOf({ type, choices, secret }: Setting): string {
  if (choices !== undefined) return choices.join(', ')
  return secret ? `${type}, secret` : type
}

function defaultOf(setting: Setting): string {
  return setting.default === undefined ? '' : `\`${setting.default}\``
}

if (import.meta.main) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8')))
