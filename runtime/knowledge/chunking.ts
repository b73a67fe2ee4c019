import { cutText } from '../lib/text.ts'
import type { Block } from './blocks.ts'

interface ChunkingOptions {
  /** Tokens of a full chunk, its headings included. */
  targetTokens: number
  /** Tokens of the end of a chunk that the next one of the same section repeats. */
  overlapTokens: number
}

const DEFAULT_CHUNKING: ChunkingOptions = { targetTokens: 250, overlapTokens: 40 }

/** Share of a chunk its heading path may take. */
const HEADING_SHARE = 0.25

/**
 * Cuts blocks into passages along the document's structure: a chunk never crosses a heading, ends at the end of a
 * sentence or record, and starts with the headings it stands under. A sentence longer than a chunk is cut at a space.
 */
export function* chunk(blocks: Iterable<Block>, options: ChunkingOptions = DEFAULT_CHUNKING): Generator<string> {
  const headings: { level: number; text: string }[] = []
  let prefix = ''
  let pieces: { text: string; separator: string; tokens: number; repeated: boolean }[] = []
  let tokens = 0
  let budget = options.targetTokens

  function take(): string | undefined {
    if (pieces.every((piece) => piece.repeated)) return undefined
    const body = pieces.map((piece, i) => (i === 0 ? '' : piece.separator) + piece.text).join('')
    return prefix === '' ? body : `${prefix}\n${body}`
  }

  for (const block of blocks) {
    if (block.kind === 'heading') {
      const text = block.text.trim()
      if (text === '') continue
      const full = take()
      if (full !== undefined) yield full
      pieces = []
      tokens = 0
      while (headings.length > 0 && headings.at(-1)!.level >= block.level) headings.pop()
      headings.push({ level: block.level, text })
      const path = headingPath(headings, options.targetTokens * HEADING_SHARE)
      prefix = /[?!.:。？！]$/.test(path) ? path : `${path}:`
      budget = options.targetTokens - approximateTokens(prefix)
      continue
    }
    let separator = pieces.length === 0 ? '' : block.kind === 'record' ? '\n' : '\n\n'
    for (const { text, endsLine } of split(block, budget)) {
      const size = approximateTokens(text)
      if (tokens + size > budget && pieces.length > 0) {
        const full = take()
        if (full !== undefined) yield full
        pieces = block.kind === 'record' ? [] : overlap(pieces, Math.min(options.overlapTokens, budget - size))
        tokens = pieces.reduce((sum, piece) => sum + piece.tokens, 0)
      }
      pieces.push({ text, separator, tokens: size, repeated: false })
      tokens += size
      separator = endsLine ? '\n' : ' '
    }
  }
  const rest = take()
  if (rest !== undefined) yield rest
}

/** Tokens a model would count, near enough: four characters of an alphabet, or one ideograph. */
export function approximateTokens(text: string): number {
  let wide = 0
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) >= 0x2e80) wide++
  return Math.ceil((text.length - wide) / 4 + wide)
}

function overlap<P extends { tokens: number; repeated: boolean }>(pieces: readonly P[], limit: number): P[] {
  const kept: P[] = []
  let tokens = 0
  for (let i = pieces.length - 1; i >= 0; i--) {
    const piece = pieces[i]!
    if (tokens + piece.tokens > limit) break
    tokens += piece.tokens
    kept.unshift({ ...piece, repeated: true })
  }
  return kept
}

/** The path of headings, outermost first; where it is too long, the innermost ones stay. */
function headingPath(headings: readonly { text: string }[], limit: number): string {
  const kept: string[] = []
  for (let i = headings.length - 1; i >= 0; i--) {
    const path = [headings[i]!.text, ...kept].join(' > ')
    if (approximateTokens(path) > limit) break
    kept.unshift(headings[i]!.text)
  }
  return kept.length > 0 ? kept.join(' > ') : headings.at(-1)!.text.slice(0, Math.floor(limit * 4))
}

const sentences = new Intl.Segmenter(undefined, { granularity: 'sentence' })

interface Sentence {
  text: string
  /** What follows stands on a new line: list items, verses and records keep theirs. */
  endsLine: boolean
}

function* split(block: Exclude<Block, { kind: 'heading' }>, budget: number): Generator<Sentence> {
  const text = block.text.trim()
  if (text === '') return
  if (block.kind === 'record') {
    yield* cut(text, budget, true)
    return
  }
  // Windows keep the segmenter from copying a whole book for each sentence.
  for (const window of windows(text)) {
    for (const { segment } of sentences.segment(window)) {
      const sentence = segment.trim()
      if (sentence !== '') yield* cut(sentence, budget, segment.endsWith('\n'))
    }
  }
}

const WINDOW_CHARACTERS = 16_384

function* windows(text: string): Generator<string> {
  let start = 0
  while (text.length - start > WINDOW_CHARACTERS) {
    // One more than a window shows whether its end would part a pair.
    const window = cutText(text.slice(start, start + WINDOW_CHARACTERS + 1), WINDOW_CHARACTERS)
    const end = start + (window.lastIndexOf(' ') + 1 || window.length)
    yield text.slice(start, end)
    start = end
  }
  yield text.slice(start)
}

/** Pieces of at most `budget` tokens, cut at a space where there is one in reach. */
function* cut(text: string, budget: number, endsLine: boolean): Generator<Sentence> {
  let rest = text
  while (rest.length > budget * 4 || (rest.length > budget && approximateTokens(rest) > budget)) {
    let end = budget * 4
    while (approximateTokens(rest.slice(0, end)) > budget) end = Math.floor(end * 0.8)
    const space = rest.slice(0, end + 1).lastIndexOf(' ')
    if (space > end / 2) end = space
    else end = cutText(rest, end).length
    yield { text: rest.slice(0, end).trim(), endsLine: false }
    rest = rest.slice(end).trimStart()
  }
  if (rest !== '') yield { text: rest, endsLine }
}
