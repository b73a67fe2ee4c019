import type { Block } from '../../../runtime/knowledge/blocks.ts'

/** Paragraphs, which an empty line parts. */
export function* plainBlocks(text: string): Generator<Block> {
  for (const paragraph of text.split(/\n\s*\n/)) {
    const joined = paragraph.trim()
    if (joined !== '') yield { kind: 'text', text: joined }
  }
}

/** Markdown as far as structure goes: headings of both styles, tables, lists; links and emphasis become plain words. */
export function* markdownBlocks(text: string): Generator<Block> {
  const lines = text.split('\n')
  let paragraph: string[] = []
  let tableHead: string[] | undefined
  let fence: string | undefined

  function* flush(): Generator<Block> {
    const joined = paragraph.join('\n').trim()
    paragraph = []
    if (joined !== '') yield { kind: 'text', text: joined }
  }

  let start = 0
  if (lines[0]?.trim() === '---') {
    const end = lines.indexOf('---', 1)
    if (end > 0) start = end + 1
  }
  for (let i = start; i < lines.length; i++) {
    const line = lines[i]!
    const marker = /^\s{0,3}(```|~~~)/.exec(line)?.[1]
    if (marker !== undefined && (fence === undefined || fence === marker)) {
      fence = fence === undefined ? marker : undefined
      continue
    }
    if (fence !== undefined) {
      paragraph.push(line)
      continue
    }
    const heading = headingOf(line)
    if (heading !== undefined) {
      yield* flush()
      yield { kind: 'heading', level: heading.level, text: plainInline(heading.text) }
      continue
    }
    const underline = /^\s{0,3}(=+|-+)\s*$/.exec(line)?.[1]
    if (underline !== undefined && paragraph.length === 1 && paragraph[0]!.trim() !== '') {
      const title = paragraph[0]!.trim()
      paragraph = []
      yield { kind: 'heading', level: underline.startsWith('=') ? 1 : 2, text: title }
      continue
    }
    if (/^\s{0,3}\|.*\|\s*$/.test(line)) {
      yield* flush()
      const cells = line
        .trim()
        .slice(1, -1)
        .split('|')
        .map((cell) => plainInline(cell.trim()))
      if (cells.every((cell) => /^:?-+:?$/.test(cell))) continue
      if (tableHead === undefined) tableHead = cells
      else yield { kind: 'record', text: labelled(tableHead, cells) }
      continue
    }
    tableHead = undefined
    if (line.trim() === '') yield* flush()
    else paragraph.push(plainInline(line))
  }
  yield* flush()
}

/** `name: value` pairs of one row, empty cells left out. */
export function labelled(names: readonly string[], values: readonly string[]): string {
  return values
    .map((value, i) => {
      const name = names[i]?.trim() ?? ''
      return value.trim() === '' ? '' : name === '' ? value.trim() : `${name}: ${value.trim()}`
    })
    .filter((pair) => pair !== '')
    .join('; ')
}

/** A heading of the style `## Title ##`. */
function headingOf(line: string): { level: number; text: string } | undefined {
  const marks = /^\s{0,3}(#{1,6})\s/.exec(line)?.[1]
  if (marks === undefined) return undefined
  const text = line.slice(line.indexOf(marks) + marks.length).trim()
  let end = text.length
  while (end > 0 && text[end - 1] === '#') end--
  return { level: marks.length, text: text.slice(0, end).trimEnd() }
}

/** Links and images by their names, read from left to right once. */
function withoutTargets(text: string): string {
  let plain = ''
  let copied = 0
  /** Of the latest bracket that is open. */
  let open = -1
  /** The next closing parenthesis, looked for once. */
  let close = text.indexOf(')')
  for (let at = 0; at < text.length; at++) {
    const sign = text[at]
    if (sign === '[') open = at
    else if (sign === ']' && open !== -1) {
      if (close !== -1 && close < at + 2) close = text.indexOf(')', at + 2)
      const end = text[at + 1] === '(' ? close : -1
      if (end !== -1 && end - at <= MAX_TARGET && !/\s/.test(text.slice(at + 2, end))) {
        const image = open > copied && text[open - 1] === '!'
        plain += text.slice(copied, image ? open - 1 : open) + text.slice(open + 1, at)
        copied = end + 1
        at = end
      }
      open = -1
    }
  }
  return plain + text.slice(copied)
}

const MAX_TARGET = 2_000

function plainInline(text: string): string {
  return withoutTargets(text)
    .replace(/(\*\*|__)(?=\S)([^*_]{1,2000}?)\1/g, '$2')
    .replace(/`([^`]{1,2000})`/g, '$1')
}
