/** Text that closes nothing for longer opens nothing. */
const MAX_EMPHASIS_CHARS = 160
const MAX_TAG_CHARS = 300
const MAX_LINK_CHARS = 1_000

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  pound: '£',
  deg: '°',
  copy: '©',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  middot: '·',
}
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi
/** Pictures, with their tones, their signs and what joins one to the next. */
const EMOJI = '[\\u{1f000}-\\u{1fbff}\\u{2600}-\\u{27bf}\\u{2b00}-\\u{2bff}\\p{RI}\\u{fe0e}\\u{fe0f}\\u{200d}\\u{20e3}]'
/** No blank stays before a mark that ended a sentence behind them. */
const EMOJI_BEFORE_MARK = new RegExp(`(?: *${EMOJI}){1,32} *(?=[.,;!?…])`, 'gu')
const ANY_EMOJI = new RegExp(EMOJI, 'gu')
/** Names of HTML and SSML, so that `a < b > c` and `<name>` of a placeholder stay. */
const TAG_NAMES =
  'a|abbr|address|article|aside|audio|b|big|blockquote|body|br|button|center|cite|code|col|colgroup|dd|del|details|dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|ins|kbd|label|li|link|main|mark|meta|nav|ol|option|p|pre|q|s|samp|script|section|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|title|tr|tt|u|ul|var|video|wbr|speak|break|say-as|phoneme|prosody|emphasis|voice|audio|lang|sentence|w|lexicon|amazon:[a-z-]+|mstts:[a-z-]+|google:[a-z-]+'
/** A tag that goes on in the next line. */
export const OPEN_TAG = new RegExp(`</?(?:${TAG_NAMES})(?:\\s[^<>]{0,${MAX_TAG_CHARS}})?$`, 'iu')
const TAG = new RegExp(`</?(?:${TAG_NAMES})(?=[\\s/>])[^<>]{0,${MAX_TAG_CHARS}}>`, 'giu')
/** A tag behind which something else begins. */
const PARTING_TAG =
  /^<\/?(?:br|p|div|li|ul|ol|tr|td|th|table|caption|title|option|h[1-6]|hr|blockquote|section|article|dd|dt|speak)\b/i
const DECLARATION = /<!doctype[^<>]*>|<\?[^<>]*\?>/gi
const AUTOLINK = /<((?:https?:\/\/|mailto:)?[^\s<>@]+(?:@[^\s<>]+)?)>/gi
const NOT_IN_WORD = '(?<![\\p{L}\\p{N}_*])'
const EMPHASIS = [
  /(?<![\p{L}\p{N}*])(\*{1,3})(?![\s*])([^*\n]{1,160}?)(?<!\s)\1(?!\*)/gu,
  /(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}])(\*{1,3})(?![\s*])([^*\n]{1,160}?)(?<!\s)\1(?!\*)/gu,
  new RegExp(`${NOT_IN_WORD}(_{1,3})(?![\\s_])([^_\\n]{1,160}?)(?<!\\s)\\1(?![\\p{L}\\p{N}_])`, 'gu'),
] as const
const STRUCK = /~~(?!\s)[^~\n]{1,160}?(?<!\s)~~/gu

const MARKS = new RegExp(`[*_\`~<[\\]&\\\\|]|${EMOJI}`, 'u')

/** One line, or a stretch of one in which everything that opens is closed, without its marks. */
export function inlineText(text: string): string {
  if (!MARKS.test(text)) return text.replace(/ {2,}/g, ' ')
  let said = text
    .replace(/(`{3,})[\s\S]*?\1/g, '')
    .replace(/`([^`\n]*)`/g, (_all, code: string) => escaped(code))
    .replace(/\\([\\`*_{}[\]()#+.!|~<>-])/g, (_all, mark: string) => escaped(mark))
    .replace(DECLARATION, '')
    .replace(TAG, (tag) => (PARTING_TAG.test(tag) ? ' ' : ''))
    .replace(AUTOLINK, (all, address: string) => (/[.:@]/.test(address) ? address.replace(/^mailto:/i, '') : all))
    .replace(/!?\[([^\][]*)\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+"[^"]*")?\)/g, '$1')
    .replace(/\[([^\][]+)\]\[[^\][]*\]/g, '$1')
    .replace(/\[\^?\d{1,3}\]/g, '')
  for (const pattern of EMPHASIS) said = said.replace(pattern, '$2')
  // Marks within marks.
  for (const pattern of EMPHASIS) said = said.replace(pattern, '$2')
  said = said
    .replace(STRUCK, '')
    .replace(ENTITY, (all, decimal?: string, hex?: string, name?: string) => entityOf(all, decimal, hex, name))
    .replace(EMOJI_BEFORE_MARK, '')
    .replace(ANY_EMOJI, '')
    .replace(/\s+\|+\s+/g, ', ')
    .replace(/[\uE000-\uE0FF]/g, (mark) => String.fromCharCode(mark.charCodeAt(0) - 0xe000))
  return said.replace(/ {2,}/g, ' ')
}

const OPENS = [
  /(?<![\p{L}\p{N}*])\*{1,3}(?![\s*])/gu,
  /(?<=[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}])\*{1,3}(?![\s*])/gu,
  /(?<![\p{L}\p{N}_])_{1,3}(?![\s_])/gu,
] as const
/** What the next character may make a mark, an entity or a picture of. */
const MAY_GO_ON = new RegExp(`&[a-z0-9#]{0,8}$|\\\\$|(?:\\s*(?:${EMOJI}|[\\ud800-\\udbff])){1,32}\\s*!?$|!$`, 'iu')
/** Marks at the end that close something, or are the beginning of longer ones. */
const END_MARKS = /(?<!\\)[*_~]+$/
/** Blanks are given out with what follows them. */
const END_BLANKS = /[ \t|]+$/

/** How much of a text more of it can't change. */
export function settledLength(text: string): number {
  const marks = text.length - (END_MARKS.exec(text)?.[0].length ?? 0)
  const open = [
    openFrom(text),
    marks === text.length ? -1 : openFrom(text.slice(0, marks)),
    text.search(MAY_GO_ON),
    marks,
  ]
  const end = Math.min(...open.filter((at) => at >= 0))
  return text.slice(0, end).replace(END_BLANKS, '').length
}

/** Where something begins that is not closed yet; -1: nowhere. */
function openFrom(raw: string): number {
  if (!/[*_`~<[]/.test(raw)) return -1
  const marked = raw.replace(/\\./g, 'xx')
  // Within code nothing opens.
  const text = marked.replace(/`[^`\n]*`/g, (code) => 'x'.repeat(code.length))
  const open = [
    unclosed(marked, /`+/g, MAX_LINK_CHARS),
    unclosed(text, /~~/g, MAX_EMPHASIS_CHARS),
    unclosedEmphasis(text),
    openTag(text),
    openLink(text),
  ].filter((at) => at >= 0)
  return open.length === 0 ? -1 : Math.min(...open)
}

/** The last of marks that come in pairs, where it has no partner. */
function unclosed(text: string, mark: RegExp, maxChars: number): number {
  let open: { at: number; mark: string } | undefined
  for (const { 0: found, index } of text.matchAll(mark)) {
    if (open === undefined) open = { at: index, mark: found }
    else if (open.mark === found) open = undefined
  }
  return open === undefined || text.length - open.at > maxChars ? -1 : open.at
}

function unclosedEmphasis(text: string): number {
  let rest = text
  for (const pattern of EMPHASIS) rest = rest.replace(pattern, (all) => 'x'.repeat(all.length))
  for (const pattern of OPENS) {
    for (const { index } of rest.matchAll(pattern)) if (text.length - index <= MAX_EMPHASIS_CHARS) return index
  }
  return -1
}

function openTag(text: string): number {
  const at = text.lastIndexOf('<')
  return at >= 0 && text.length - at <= MAX_TAG_CHARS && /^<(?:[/!?a-z][^<>]*)?$/i.test(text.slice(at)) ? at : -1
}

function openLink(text: string): number {
  const at = text.lastIndexOf('[')
  if (at < 0 || text.length - at > MAX_LINK_CHARS) return -1
  const from = text[at - 1] === '!' ? at - 1 : at
  const rest = text.slice(at)
  if (!rest.includes(']')) return from
  return /^\[[^\]]*\](?:\((?:[^()\n]|\([^()\n]*\))*|\[[^\]]*)?$/.test(rest) ? from : -1
}

/** Letters of code that mean something in a text stand as they are. */
const escaped = (code: string): string =>
  code.replace(/[*_~<>[\]&\\|]/g, (mark) => String.fromCharCode(0xe000 + mark.charCodeAt(0)))

function entityOf(all: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? all
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
  const isLetter = code >= 0x20 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
  return isLetter ? String.fromCodePoint(code).replace('\u00a0', ' ') : ''
}
