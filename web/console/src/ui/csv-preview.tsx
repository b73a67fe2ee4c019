import { useEffect, useState } from 'react'
import { Notice } from './layout.tsx'

export interface Csv {
  readonly columns: readonly string[]
  /** The first rows. */
  readonly rows: readonly (readonly string[])[]
}

/** As much of a file as a preview needs. */
const READ_BYTES = 64 * 1024
const SHOWN_ROWS = 4

/** The head of a CSV file that was chosen. */
export function useCsv(file: File | undefined): Csv | undefined {
  const [csv, setCsv] = useState<Csv>()
  useEffect(() => {
    let isCurrent = true
    setCsv(undefined)
    void file
      ?.slice(0, READ_BYTES)
      .text()
      .then((text) => {
        const [columns = [], ...rows] = readCsv(text)
        if (isCurrent) setCsv({ columns: columns.map((name) => name.trim()), rows: rows.slice(0, SHOWN_ROWS) })
      })
    return () => {
      isCurrent = false
    }
  }, [file])
  return csv
}

/** What of a file will be sent, before it is. */
export function CsvPreview({ csv, needs = 'phone_number' }: { csv: Csv | undefined; needs?: string | null }) {
  if (csv === undefined) return null
  const missing = needs !== null && !csv.columns.some((name) => name.toLowerCase() === needs)
  return (
    <div className="space-y-2">
      {missing && (
        <Notice tone="warn">
          No column is called {needs}. Rename the one with the numbers in the file’s first row.
        </Notice>
      )}
      <div className="overflow-x-auto rounded-md border border-line">
        <table className="w-full text-xs">
          <caption className="sr-only">The first rows of the file</caption>
          <thead className="bg-sunken text-left">
            <tr>
              {csv.columns.map((name) => (
                <th className="px-2 py-1.5 font-medium" key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {csv.rows.map((row) => (
              <tr className="border-t border-line" key={row.join('\u0000')}>
                {csv.columns.map((name, at) => (
                  <td className="max-w-40 truncate px-2 py-1.5" key={name}>
                    {row[at]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

/** Rows of fields (RFC 4180); the separator is the one the first line has most of. */
export function readCsv(text: string): string[][] {
  const head = text.slice(0, text.indexOf('\n') === -1 ? undefined : text.indexOf('\n'))
  const separator = [',', ';', '\t'].reduce((best, one) =>
    head.split(one).length > head.split(best).length ? one : best,
  )
  const rows: string[][] = []
  let row: string[] = []
  let field = ''
  let quoted = false
  for (let at = text.charCodeAt(0) === 0xfeff ? 1 : 0; at < text.length; at++) {
    const character = text[at]!
    if (quoted) {
      if (character !== '"') field += character
      else if (text[at + 1] === '"') field += text[++at]
      else quoted = false
    } else if (character === '"') quoted = true
    else if (character === separator) {
      row.push(field)
      field = ''
    } else if (character === '\n') {
      rows.push([...row, field.replace(/\r$/, '')])
      row = []
      field = ''
    } else field += character
  }
  if (field !== '' || row.length > 0) rows.push([...row, field])
  return rows.filter((one) => one.some((value) => value !== ''))
}
