import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import MiniSearch from 'minisearch'
import { addressOf, type Rendered, renderMarkdown } from './render-markdown.ts'

/** The pages of docs/ in the order in which a newcomer reads them. */
export const GROUPS: readonly (readonly [title: string, paths: readonly string[]])[] = [
  [
    'Agents',
    [
      ...['console.md', 'tools.md', 'knowledge.md', 'languages.md', 'turn-taking.md', 'agents/collecting.md'],
      ...['agents/guardrails.md', 'agents/hand-off.md', 'agents/testing.md', 'agents/versions.md'],
      ...['agents/improving.md', 'agents/files.md'],
    ],
  ],
  ['Calls', ['telephony.md', 'campaigns.md', 'batches.md', 'recordings.md', 'consent.md', 'sip-peers.md']],
  ['Web and API', ['web.md', 'api.md', 'events.md', 'realtime.md', 'clients/README.md']],
  [
    'Providers and plugins',
    [
      ...['providers.md', 'local-speech.md', 'plugins.md', 'providers/speech-to-speech.md', 'providers/openai.md'],
      ...['providers/instances.md', 'providers/anthropic.md', 'providers/google.md', 'providers/azure.md'],
      ...['providers/deepgram.md', 'providers/assemblyai.md', 'providers/cartesia.md', 'providers/elevenlabs.md'],
    ],
  ],
  [
    'Running it',
    [
      ...['operations.md', 'configuration.md', 'security.md', 'failures.md', 'resilience.md', 'architecture.md'],
      'dependencies.md',
    ],
  ],
]

export interface Found {
  readonly address: string
  readonly page: string
  readonly section: string
  readonly snippet: Snippet
}

/** Text around a word that was searched for, and the words in it. */
interface Snippet {
  readonly text: string
  readonly terms: readonly string[]
}

interface Indexed {
  id: number
  address: string
  page: string
  section: string
  text: string
}

const MOST_FOUND = 30
const SNIPPET_CHARS = 220
/** So many sections are indexed in one turn of the loop, which carries calls. */
const CHUNK = 20

/** The documentation of this instance: its pages by their addresses, and a search over them. */
export class DocsSite {
  readonly pages: ReadonlyMap<string, Rendered>
  /** The pictures by their addresses: paths of files. */
  readonly pictures: ReadonlyMap<string, string>
  readonly #index: MiniSearch<Indexed>

  private constructor(
    pages: ReadonlyMap<string, Rendered>,
    pictures: ReadonlyMap<string, string>,
    index: MiniSearch<Indexed>,
  ) {
    this.pages = pages
    this.pictures = pictures
    this.#index = index
  }

  /** Reads and renders docs/, a page a turn of the loop. */
  static async read(folder: string): Promise<DocsSite> {
    const files = new Set((await readdir(folder, { recursive: true })).map((path) => path.replaceAll('\\', '/')))
    const pages = new Map<string, Rendered>()
    for (const path of files) {
      if (path.endsWith('.md'))
        pages.set(addressOf(path), renderMarkdown(await readFile(join(folder, path), 'utf8'), path, files))
    }
    const pictures = [...files].filter((path) => path.endsWith('.webp')).map((path) => [addressOf(path), path] as const)
    const index = new MiniSearch<Indexed>({
      fields: ['page', 'section', 'text'],
      storeFields: ['address', 'page', 'section', 'text'],
      searchOptions: { boost: { page: 3, section: 4 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
    })
    await index.addAllAsync(sectionsOf(pages), { chunkSize: CHUNK })
    return new DocsSite(pages, new Map(pictures), index)
  }

  /** The sections that have all words, best first. */
  search(words: string): Found[] {
    return this.#index
      .search(words)
      .slice(0, MOST_FOUND)
      .map(({ address, page, section, text, terms }) => ({ address, page, section, snippet: snippetOf(text, terms) }))
  }
}

function sectionsOf(pages: ReadonlyMap<string, Rendered>): Indexed[] {
  const sections = [...pages].flatMap(([address, { title, sections }]) =>
    sections.map((one) => ({
      address: one.id === '' || one.title === title ? address : `${address}#${one.id}`,
      page: title,
      section: one.title,
      text: one.text.replace(/\s+/g, ' ').trim(),
    })),
  )
  return sections.map((section, id) => ({ ...section, id }))
}

function snippetOf(text: string, terms: readonly string[]): Snippet {
  const small = text.toLowerCase()
  const at = Math.max(
    0,
    Math.min(...terms.map((term) => small.indexOf(term)).filter((place) => place >= 0), text.length),
  )
  const from = at === text.length ? 0 : Math.max(0, at - SNIPPET_CHARS / 3)
  const cut = text.slice(from, from + SNIPPET_CHARS)
  return { text: `${from > 0 ? '… ' : ''}${cut}${from + SNIPPET_CHARS < text.length ? ' …' : ''}`, terms }
}
