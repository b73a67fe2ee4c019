import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import t from 'tap'
import { DICTIONARIES } from '../../../web/console/src/language/dictionaries.ts'
import { sentences } from '../../../web/console/src/language/german/mod.ts'
import sameAsEnglish from './same-as-english.json' with { type: 'json' }

const SOURCES = join(import.meta.dirname, '../../../web/console/src')
/** Attributes and properties that people read. */
const READ = /^(label|title|hint|lead|placeholder|action|ask|leave|aria-label|alt|name|done|children|fault)$/
/** What is the same in every language. */
const SAME = /^(https?:.*|.*[{@*].*|\w+_\w+, \w+_\w+|Patchbay|CSV|API|URL|UDP|TCP|TLS|CPU|pcap|[a-z_.]+)$/

interface Node {
  type: string
  start: number
  [field: string]: unknown
}

/** Every node of the page's sources, with the one around it. */
async function* nodes(): AsyncGenerator<{ file: string; node: Node; parent: Node | undefined }> {
  for (const file of await readdir(SOURCES, { recursive: true })) {
    if (!/\.tsx?$/.test(file) || file.startsWith('language')) continue
    const program = parseAst(await readFile(join(SOURCES, file), 'utf8'), { lang: file.endsWith('x') ? 'tsx' : 'ts' })
    const stack: { node: unknown; parent: Node | undefined }[] = [{ node: program, parent: undefined }]
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const { node, parent } = top
      if (typeof node !== 'object' || node === null) continue
      if (Array.isArray(node)) for (const one of node) stack.push({ node: one, parent })
      else if (typeof (node as Node).type === 'string') {
        yield { file, node: node as Node, parent }
        for (const child of Object.values(node)) stack.push({ node: child, parent: node as Node })
      }
    }
  }
}

const nameOf = (node: Node | undefined): string => {
  const name = (node?.name ?? node?.key) as { name?: unknown; value?: unknown } | undefined
  return String(name?.name ?? name?.value ?? '')
}

t.test(
  'every sentence of the console goes by the dictionary, and the dictionary has none that nobody says',
  async (t) => {
    const said = new Set<string>()
    const faults: string[] = []
    for await (const { file, node, parent } of nodes()) {
      if (node.type === 'CallExpression' && (node.callee as Node).name === 't') {
        const [sentence] = node.arguments as Node[]
        said.add(String(sentence?.value))
      }
      if (node.type === 'JSXText' && /[a-z]{2}/i.test(String(node.value))) {
        const isCode = nameOf(parent?.openingElement as Node) === 'code'
        if (!isCode && !SAME.test(String(node.value).trim())) faults.push(`${file} says "${String(node.value).trim()}"`)
      }
      if (node.type !== 'Literal' || typeof node.value !== 'string') continue
      const isRead = (parent?.type === 'JSXAttribute' || parent?.type === 'Property') && READ.test(nameOf(parent))
      const { value } = node
      if (isRead && parent?.key !== node && /[a-z]{2}/.test(value) && !SAME.test(value))
        faults.push(`${file} says "${value}"`)
    }
    t.same(faults, [])
    const unsaid = Object.keys(sentences).filter((sentence) => !said.has(sentence))
    t.same(unsaid, [], 'what German has is said')
    t.ok(said.size > 1_000)
  },
)

/** Words and names that a language has from English, or shares with it. */
const shared: Readonly<Record<string, readonly string[]>> = sameAsEnglish

for (const [tag, load] of Object.entries(DICTIONARIES)) {
  t.test(`${tag} says what the page says, all of it and no more, and fills in what English fills in`, async (t) => {
    const dictionary = await load()
    const german = await DICTIONARIES.de()
    const names = (text: string) => [...text.matchAll(/\{+(\w+)\}+/g)].map(([whole]) => whole).sort()
    for (const part of ['sentences', 'words', 'answers'] as const) {
      t.same(new Set(Object.keys(dictionary[part])), new Set(Object.keys(german[part])), part)
      const wrong = Object.entries(dictionary[part]).filter(
        ([english, text]) => text.trim() === '' || names(text).join() !== names(english).join(),
      )
      t.same(wrong, [], `${part} that are empty, or fill in something else`)
    }
    const left = Object.entries(dictionary.sentences).flatMap(([english, text]) => (text === english ? [english] : []))
    t.same(new Set(left), new Set(shared[tag]), 'these alone are as in English')
  })
}
