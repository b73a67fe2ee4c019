import { cleanText } from '../lib/text.ts'

/** The blocks extracted from a file of any format: headings, running text, and records that stay whole. */
export type Block =
  | { kind: 'heading'; level: number; text: string }
  | { kind: 'text'; text: string }
  /** A table row, a CSV record, a JSON object: not joined to its neighbours by overlap. */
  | { kind: 'record'; text: string }

export const DOCUMENT_FORMATS = ['txt', 'md', 'html', 'pdf', 'docx', 'csv', 'json'] as const
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number]

const BY_EXTENSION: Readonly<Record<string, DocumentFormat>> = {
  txt: 'txt',
  text: 'txt',
  md: 'md',
  markdown: 'md',
  html: 'html',
  htm: 'html',
  pdf: 'pdf',
  docx: 'docx',
  csv: 'csv',
  json: 'json',
}

const BY_MEDIA_TYPE: Readonly<Record<string, DocumentFormat>> = {
  'text/plain': 'txt',
  'text/markdown': 'md',
  'text/html': 'html',
  'application/pdf': 'pdf',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'text/csv': 'csv',
  'application/json': 'json',
}

/** The format of a file by its extension, or by its media type when the name has none. */
export function documentFormat(filename: string, mediaType: string): DocumentFormat | undefined {
  const extension = /\.([^./\\]+)$/.exec(filename)?.[1]
  if (extension !== undefined) return BY_EXTENSION[extension.toLowerCase()]
  return BY_MEDIA_TYPE[mediaType.split(';')[0]!.trim().toLowerCase()]
}

const CLEAN_WINDOW = 65_536

/** Clean text without control characters but tab and newline, and with single spaces. */
export function documentText(text: string): string {
  const wellFormed = cleanText(text)
  // In windows: a global replace over a whole book keeps each of its millions of matches in memory.
  const parts: string[] = []
  for (let start = 0; start < wellFormed.length; ) {
    let end = start + CLEAN_WINDOW
    if (wellFormed[end - 1] === '\r') end++
    parts.push(cleanWindow(wellFormed.slice(start, end)))
    start = end
  }
  return parts.join('')
}

function cleanWindow(text: string): string {
  return (
    text
      .replace(/\r\n?/g, '\n')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f\ufeff\u00ad]/g, '')
      .replace(/[^\S\n\t ]/g, ' ')
      .replace(/ {2,}/g, ' ')
  )
}
