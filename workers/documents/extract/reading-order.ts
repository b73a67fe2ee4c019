import { isRightToLeft, lineText } from './line-text.ts'

/** A run of text as a page places it; lengths in points, `y` from the page's lower edge. Blank ones are the spaces between others. */
export interface Piece {
  text: string
  x: number
  y: number
  width: number
  height: number
  font: string
}

/** Text of one line within one column. */
export interface PageLine {
  text: string
  height: number
  y: number
  /** The cells of a row of a table, by the names of its columns where the table has a row of names. */
  cells?: { names: readonly string[] | undefined; values: readonly string[] }
}

interface Segment {
  fonts: ReadonlySet<string>
  start: number
  end: number
  text: string
  height: number
  y: number
  isRightToLeft: boolean
}

interface Gap {
  start: number
  end: number
}

/** A space wider than this share of the type's height parts columns or cells; spaces of justified text are narrower. */
const GAP = 1.5
/** What all lines of a band leave free at one place at least, as a share of the type's height. */
const GUTTER = 0.5
/** Lines with text on both sides of a gutter from which on it is one. */
const MIN_ROWS = 3
/** Lines of running text fill this share of their column, half of them at least, and have as many words. */
const COLUMN_FILL = 0.6
const COLUMN_WORDS = 3
/** Rows of a band are at most so far apart, as a share of the type's height; one with text on one side alone is part of it where it is nearer. */
const ROW_DISTANCE = 3.6
const LINE_DISTANCE = 1.8
const MAX_COLUMNS = 6
/** A row of more cells is a line, whose places are not compared with others'. */
const MAX_CELLS = 50

/**
 * The lines of a page as a person reads them: columns one after the other, rows of tables whole.
 * @param rows runs of text that the page draws on one line, in its own order
 */
export function readingOrder(rows: readonly (readonly Piece[])[]): PageLine[] {
  const pageIsRightToLeft = isRightToLeft(rows.flat(), false)
  let last: Segment[] = []
  const segments = rows.flatMap((row) => {
    const isAmongSuch = pageIsRightToLeft || last.some((segment) => segment.isRightToLeft)
    const found = segmentsOf(row, isAmongSuch)
    if (found.length > 0) last = found
    return rowIfAny(found)
  })
  return bands(segments).flatMap((band) => linesOf(band, MAX_COLUMNS))
}

function segmentsOf(row: readonly Piece[], isAmongSuch: boolean): Segment[] {
  const found: Piece[][] = [[]]
  const placed = row.filter(({ text }) => text !== '').toSorted((a, b) => a.x - b.x)
  let last: Piece | undefined
  for (const piece of placed) {
    const isBlank = piece.text.trim() === ''
    if (!isBlank && last !== undefined && piece.x - (last.x + last.width) > last.height * GAP) found.push([])
    // A blank at the end of a run of text may reach over the whole gap.
    if (!isBlank) last = piece
    found.at(-1)?.push(piece)
  }
  return found
    .filter((pieces) => pieces.some(({ text }) => text.trim() !== ''))
    .map((pieces) => segmentOf(pieces, isAmongSuch))
}

function segmentOf(pieces: Piece[], isAmongSuch: boolean): Segment {
  const seen = pieces.filter(({ text }) => text.trim() !== '')
  const isFromRight = isRightToLeft(pieces, isAmongSuch)
  return {
    fonts: new Set(seen.map(({ font }) => font)),
    start: seen[0]?.x ?? 0,
    end: seen.reduce((end, { x, width }) => Math.max(end, x + width), 0),
    text: lineText(pieces, isFromRight).trim(),
    height: seen.reduce((most, { height }) => Math.max(most, height), 0),
    y: seen[0]?.y ?? 0,
    isRightToLeft: isFromRight,
  }
}

interface Band {
  rows: Segment[][]
  /** What is free in all rows, in the middle of each. */
  gutters: readonly Gap[]
}

/** Neighbouring rows that leave the same places free, and each other row by itself. */
function bands(rows: readonly Segment[][]): Band[] {
  const found: Band[] = []
  let band: Band = { rows: [], gutters: [] }
  const close = (): void => {
    if (band.rows.length > 0) found.push(band)
  }
  for (const row of rows) {
    const height = heightOf(row)
    const last = band.rows.at(-1)?.[0]
    const distance = Math.abs((last?.y ?? Number.POSITIVE_INFINITY) - (row[0]?.y ?? 0)) / height
    const isNear = distance <= (row.length > 1 ? ROW_DISTANCE : LINE_DISTANCE)
    const gutters = isNear ? band.gutters.flatMap((gutter) => freeWithin(gutter, row, height)) : []
    if (gutters.length > 0) {
      band.rows.push(row)
      band = { rows: band.rows, gutters }
      continue
    }
    close()
    band = { rows: [row], gutters: gapsOf(row) }
  }
  close()
  return found
}

function gapsOf(row: readonly Segment[]): Gap[] {
  if (row.length > MAX_CELLS) return []
  return row.slice(1).map(({ start }, i) => ({ start: row[i]?.end ?? start, end: start }))
}

/** The parts of a gutter that a row leaves free. */
function freeWithin(gutter: Gap, row: readonly Segment[], height: number): Gap[] {
  const edges = [
    { start: Number.NEGATIVE_INFINITY, end: row[0]?.start ?? 0 },
    ...gapsOf(row),
    { start: row.at(-1)?.end ?? 0, end: Number.POSITIVE_INFINITY },
  ]
  return edges
    .map(({ start, end }) => ({ start: Math.max(start, gutter.start), end: Math.min(end, gutter.end) }))
    .filter(({ start, end }) => end - start >= height * GUTTER)
}

function linesOf({ rows, gutters }: Band, columns: number): PageLine[] {
  const wide = rows.filter((row) => row.length > 1).length
  const gutter = gutters[0]
  if (gutter === undefined || wide < MIN_ROWS) return rows.map(lineOf)
  const left = rows.flatMap((row) => rowIfAny(row.filter(({ end }) => end <= gutter.start)))
  const right = rows.flatMap((row) => rowIfAny(row.filter(({ start }) => start >= gutter.end)))
  if (columns > 1 && isRunningText(left) && (isRunningText(right) || gutters.length > 1)) {
    const sides = [left, right].map((side) => bands(side).flatMap((band) => linesOf(band, columns - 1)))
    const isRightToLeft = rows.flat().filter((segment) => segment.isRightToLeft).length * 2 > rows.flat().length
    return (isRightToLeft ? sides.toReversed() : sides).flat()
  }
  return tableOf(rows)
}

function heightOf(row: readonly Segment[]): number {
  return row.reduce((most, { height }) => Math.max(most, height), 0)
}

function rowIfAny(row: Segment[]): Segment[][] {
  return row.length > 0 ? [row] : []
}

function isRunningText(rows: readonly Segment[][]): boolean {
  const start = rows.reduce((least, row) => Math.min(least, row[0]?.start ?? least), Number.POSITIVE_INFINITY)
  const width = rows.reduce((most, row) => Math.max(most, row.at(-1)?.end ?? most), start) - start
  const full = rows.filter((row) => {
    const words = row.reduce((sum, { text }) => sum + text.split(/\s+/).length, 0)
    return row.length === 1 && words >= COLUMN_WORDS && (row[0]?.end ?? 0) - (row[0]?.start ?? 0) >= width * COLUMN_FILL
  })
  return full.length * 2 >= rows.length
}

function lineOf(row: readonly Segment[]): PageLine {
  const ordered = row.every(({ isRightToLeft }) => isRightToLeft) ? row.toReversed() : row
  return {
    text: ordered.map(({ text }) => text).join(' '),
    height: heightOf(row),
    y: row[0]?.y ?? 0,
  }
}

/** Rows of a table; its first one names the columns where it is set in another type than all others. */
function tableOf(rows: readonly Segment[][]): PageLine[] {
  const [first = [], ...rest] = rows
  const others = new Set(rest.flatMap((row) => row.flatMap(({ fonts }) => [...fonts])))
  const isNamed = first.length > 1 && first.every(({ fonts }) => ![...fonts].some((font) => others.has(font)))
  const cellsOf = (row: readonly Segment[]): string[] => row.map(({ text }) => text)
  const line = (row: readonly Segment[]): PageLine => {
    // A row that leaves cells out can't be put under names by their number.
    const names = isNamed && row.length === first.length ? cellsOf(first) : undefined
    return { ...lineOf(row), cells: { names, values: cellsOf(row) } }
  }
  return (isNamed && rest.some((row) => row.length === first.length) ? rest : rows).map(line)
}
