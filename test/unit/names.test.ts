import { readdir, readFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['api', 'cli', 'config', 'plugins', 'runtime', 'store', 'workers']
const EXPORT = /^export (?:default )?(?:abstract )?(?:async )?(?:class|function\*?|interface|type|const|enum) (\w+)/gm
/** Names that say a file's part in its folder. */
const BY_ROLE = new Set(['cli', 'command', 'endpoint', 'index', 'messages', 'mod', 'routes', 'run', 'schema', 'start'])
/** Folders whose files are named by a number or by the code of a language. */
const BY_CODE = ['store/migrations/', 'languages/']

/** Only ever lowered: a new file is named after its main export. */
const MOST_UNMATCHED = 116
/** Only ever lowered: a new name is not exported by another file yet. */
const MOST_SHARED_NAMES = 9

interface SourceFile {
  path: string
  exported: string[]
}

async function sourceFiles(): Promise<SourceFile[]> {
  const all = await Promise.all(
    FOLDERS.map((folder) => readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })),
  )
  const paths = all
    .flat()
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .filter((path) => !path.includes('node_modules') && !BY_CODE.some((folder) => path.includes(folder)))
    .sort()
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(ROOT, path), 'utf8')
      return { path, exported: [...text.matchAll(EXPORT)].map(([, name = '']) => name) }
    }),
  )
}

/** The words of a name without their endings: `openSessions`, `open-session` → open, session. */
function wordsOf(name: string): string[] {
  const separated = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1-$2')
  return separated
    .toLowerCase()
    .split(/[-_]/)
    .map((word) => word.replace(/(ies|es|s|ing|er|or|ed|e|y)$/, ''))
}

/** Every word of the file's name occurs in one of the exported names. */
function isNamedAfterExport({ path, exported }: SourceFile): boolean {
  const file = basename(path, '.ts')
  if (BY_ROLE.has(file) || exported.length === 0) return true
  return exported.some((name) => {
    const words = wordsOf(name)
    return wordsOf(file).every((word) => words.some((other) => other.startsWith(word) || word.startsWith(other)))
  })
}

t.test('a file is named after its main export', async (t) => {
  const unmatched = (await sourceFiles()).filter((file) => !isNamedAfterExport(file)).map(({ path }) => path)
  t.ok(unmatched.length <= MOST_UNMATCHED, `${unmatched.length} files are not: ${unmatched.join(', ')}`)
})

t.test('an exported name has one meaning', async (t) => {
  const files = new Map<string, string[]>()
  for (const { path, exported } of await sourceFiles()) {
    // Plugins for the same kind of provider export the same names, each in a folder of its own.
    if (path.startsWith('plugins/')) continue
    for (const name of new Set(exported)) files.set(name, [...(files.get(name) ?? []), path])
  }
  const shared = [...files].filter(([, paths]) => paths.length > 1)
  const list = shared.map(([name, paths]) => `${name} (${paths.join(', ')})`).join('; ')
  t.ok(shared.length <= MOST_SHARED_NAMES, `${shared.length} have several: ${list}`)
})
