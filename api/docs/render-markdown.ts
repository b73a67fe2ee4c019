import { posix } from 'node:path'
import { Marked, type Token, type Tokens } from 'marked'
import { escapeHtml } from '../http/escape-html.ts'

/** A part of a page under a heading of its own. */
export interface Section {
  /** The id of its heading; empty: what stands before the first one. */
  readonly id: string
  readonly title: string
  readonly text: string
}

export interface Rendered {
  readonly title: string
  /** The first paragraph, as text. */
  readonly lead: string
  readonly html: string
  readonly sections: readonly Section[]
}

/** The address of a file of docs/: `agents/versions.md` is /docs/agents.versions. */
export const addressOf = (path: string): string =>
  `/docs/${path
    .replace(/(^|\/)README\.md$/, '')
    .replace(/\.md$/, '')
    .replaceAll('/', '.')}`

/** Renders a page of docs/ by GitHub's Markdown. `path` is its own; links to `files` lead to their addresses here. */
export function renderMarkdown(markdown: string, path: string, files: ReadonlySet<string>): Rendered {
  const ids = new IdMaker()
  /** Where a link of the page leads here; undefined: it is not served. */
  const placeOf = (href: string): string | undefined => {
    if (href.startsWith('#')) return href
    if (/^\w+:/.test(href)) return /^https?:/.test(href) && URL.canParse(href) ? href : undefined
    const [file = '', hash] = href.split('#')
    const target = posix.join(posix.dirname(path), file)
    return files.has(target) ? `${addressOf(target)}${hash === undefined ? '' : `#${hash}`}` : undefined
  }
  const marked = new Marked({ gfm: true })
  marked.use({
    renderer: {
      heading({ tokens, depth }) {
        const id = ids.next(plainOf(tokens))
        if (depth === 1) return `<h1 id="${id}">${this.parser.parseInline(tokens)}</h1>\n`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const place = placeOf(href)
        const words = this.parser.parseInline(tokens)
        // A file of the repository is no page of this instance.
        return place === undefined ? words : `<a href="${escapeHtml(place)}">${words}</a>`
      },
      image({ href, text }) {
        const place = placeOf(href)
        return place === undefined
          ? escapeHtml(text)
          : `<img src="${escapeHtml(place)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      html({ text }) {
        return escapeHtml(text)
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`
      },
      table(token) {
        const rows = token.rows.map((row) => `<tr>${row.map((cell) => this.tablecell(cell)).join('')}</tr>`)
        const head = `<tr>${token.header.map((cell) => this.tablecell(cell)).join('')}</tr>`
        return `<div class="table" role="region" aria-label="Table" tabindex="0"><table><thead>${head}</thead><tbody>${rows.join('')}</tbody></table></div>\n`
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const [first] = tokens
  const lead = tokens.find(({ type }) => type === 'paragraph')
  return {
    title: first?.type === 'heading' ? plainOf((first as Tokens.Heading).tokens) : path,
    lead: lead === undefined ? '' : plainOf([lead]),
    html: marked.parser(tokens),
    sections: sectionsOf(tokens),
  }
}

function sectionsOf(tokens: readonly Token[]): Section[] {
  const ids = new IdMaker()
  const sections: { id: string; title: string; text: string }[] = [{ id: '', title: '', text: '' }]
  for (const token of tokens) {
    if (token.type !== 'heading') {
      sections.at(-1)!.text += `${plainOf([token])}\n`
      continue
    }
    const title = plainOf((token as Tokens.Heading).tokens)
    sections.push({ id: ids.next(title), title, text: '' })
  }
  return sections.filter(({ title, text }) => title !== '' || text.trim() !== '')
}

/** The words of tokens without their markup. */
function plainOf(tokens: readonly Token[]): string {
  return tokens.map(plain).join('')
}

function plain(token: Token): string {
  if (token.type === 'list') return (token as Tokens.List).items.map(({ tokens }) => `${plainOf(tokens)}\n`).join('')
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => `${row.map(({ tokens }) => plainOf(tokens)).join(' ')}\n`).join('')
  }
  if ('tokens' in token && token.tokens) return plainOf(token.tokens)
  if (token.type === 'space' || token.type === 'br') return ' '
  // What Markdown escapes is text again.
  return 'text' in token
    ? String(token.text).replace(/&#39;|&quot;|&amp;|&lt;|&gt;/g, (one) => ENTITIES[one] ?? one)
    : ''
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&#39;': "'",
  '&quot;': '"',
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
}

/** Ids of headings as GitHub makes them: the links of the pages name those. */
class IdMaker {
  readonly #made = new Map<string, number>()

  next(title: string): string {
    const id = title
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const before = this.#made.get(id)
    this.#made.set(id, (before ?? 0) + 1)
    return before === undefined ? id : `${id}-${before}`
  }
}
