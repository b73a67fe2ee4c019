import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { PatchbayError } from '../runtime/lib/errors.ts'

/** Variables of a file, each with the line it is on. */
export interface EnvFile {
  /** As it was named: `.env`. */
  readonly name: string
  readonly values: Readonly<Record<string, string>>
  readonly lines: ReadonlyMap<string, number>
}

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLE = 'PATCHBAY_ENV_FILE'
const DEFAULT_FILE = '.env'
const NO_FILE = 'none'

/**
 * Reads the file of variables that the environment names, `.env` of the working directory otherwise, where there is one.
 * Throws `configuration`, which names every faulty line.
 */
export function readEnvFile(env: Environment): EnvFile | undefined {
  const named = env[VARIABLE]
  const name = named || DEFAULT_FILE
  if (name === NO_FILE) return undefined
  let text: string
  try {
    text = readFileSync(resolve(name), 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT' && !named) return undefined
    const reason =
      code === 'ENOENT'
        ? `${VARIABLE} names "${name}", which is not there; create it, or set ${VARIABLE}=${NO_FILE}.`
        : `${name} can't be read (${message}); correct it, or set ${VARIABLE}=${NO_FILE}.`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  }
  const { values, lines, faults } = parseEnvFile(text)
  if (faults.length > 0) {
    const reason = `${faults.map(({ line, fault }) => `${name}, line ${line}: ${fault}`).join('; ')}.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  return { name, values, lines }
}

/** The environment with the variables of a file that it does not set itself. One it sets to nothing is set. */
export function withEnvFile(env: Environment, file: EnvFile | undefined): Environment {
  return { ...file?.values, ...env }
}

const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }

/**
 * Reads lines such as `NAME=value`, `export NAME="a value"  # why`. In single quotes everything is meant as it stands, in
 * double quotes `\n`, `\r`, `\t`, `\"` and `\\` are escapes; quoted values may go over several lines. Nothing is
 * substituted: `$` is a dollar.
 */
export function parseEnvFile(text: string): Omit<EnvFile, 'name'> & { faults: { line: number; fault: string }[] } {
  const values: Record<string, string> = {}
  const lines = new Map<string, number>()
  const faults: { line: number; fault: string }[] = []
  const rows = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  for (let at = 0; at < rows.length; at++) {
    const line = at + 1
    const row = rows[at] ?? ''
    if (/^\s*(#|$)/.test(row)) continue
    const match = ASSIGNMENT.exec(row)
    const name = match?.[1]
    if (match === null || name === undefined) {
      faults.push({ line, fault: 'is not of the form NAME=value' })
      continue
    }
    const earlier = lines.get(name)
    if (earlier !== undefined) faults.push({ line, fault: `${name} is set already on line ${earlier}` })
    const rest = row.slice(match[0].length)
    const quote = /^["']/.exec(rest)?.[0]
    if (quote === undefined) {
      values[name] = rest.replace(/(^|\s)#.*$/, '').trim()
    } else {
      const quoted = readQuoted([rest.slice(1), ...rows.slice(at + 1)], quote)
      if (quoted === undefined) {
        faults.push({ line, fault: `the quotation mark of ${name} is not closed` })
        continue
      }
      if (!/^\s*(#|$)/.test(quoted.after)) {
        faults.push({ line: line + quoted.moreRows, fault: `text follows the closing quotation mark of ${name}` })
      }
      values[name] = quoted.value
      at += quoted.moreRows
    }
    lines.set(name, line)
  }
  return { values, lines, faults }
}

/** The value up to its closing mark, and what follows that on its line. Undefined: it is not closed. */
function readQuoted(
  rows: readonly string[],
  quote: string,
): { value: string; after: string; moreRows: number } | undefined {
  let value = ''
  for (const [moreRows, row] of rows.entries()) {
    if (moreRows > 0) value += '\n'
    for (let at = 0; at < row.length; at++) {
      const char = row.charAt(at)
      if (char === quote) return { value, after: row.slice(at + 1), moreRows }
      const escaped = quote === '"' && char === '\\' ? ESCAPES[row.charAt(at + 1)] : undefined
      value += escaped ?? char
      if (escaped !== undefined) at++
    }
  }
  return undefined
}
