import { Type } from 'typebox'
import { MAX_CSV_COLUMNS } from '../../runtime/lib/csv-columns.ts'
import { type ColumnMapping, ownColumnOf } from '../../store/prospects/prospect-columns.ts'
import { ValidationError } from '../schema.ts'

/** What the columns of a file are, as a field of a form. */

const MAX_NAME_CHARS = 1_000

export const Mapping = Type.Optional(
  Type.String({
    maxLength: 60_000,
    description:
      'JSON object: names of the file\'s columns → what each is: a column of the prospect\'s own, the name of a variable, or `""` to leave it out. Columns it does not name are what their names say.',
    examples: ['{"Mobile": "primary_phone", "Given name": "first_name", "Notes": ""}'],
  }),
)

/** Throws a ValidationError. */
export function readMapping(text: string | undefined): ColumnMapping {
  if (text === undefined || text === '') return {}
  const value = parsed(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw fault('must be a JSON object')
  const entries = Object.entries(value)
  if (entries.length > MAX_CSV_COLUMNS) throw fault(`must have at most ${MAX_CSV_COLUMNS} columns`)
  if (!entries.every((entry): entry is [string, string] => typeof entry[1] === 'string'))
    throw fault('must have names as values')
  if (entries.some(([, name]) => name.length > MAX_NAME_CHARS || name.includes('\0')))
    throw fault(`must have names of at most ${MAX_NAME_CHARS} characters`)
  const own = entries.flatMap(([, name]) => ownColumnOf(name) ?? [])
  const twice = own.find((name, at) => own.indexOf(name) !== at)
  if (twice !== undefined) throw fault(`must have one column that is ${twice}`)
  return Object.fromEntries(entries)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw fault('must be JSON')
  }
}

const fault = (msg: string) => new ValidationError([{ loc: ['form', 'mapping'], msg, type: 'value_error' }])
