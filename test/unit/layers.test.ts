import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..')
const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** Of every file below the folder: which files of this repository it imports. */
async function importsOf(folder: string): Promise<{ file: string; imported: string }[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  const all = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const text = await readFile(path, 'utf8')
      return [...text.matchAll(IMPORT)].map(([, to = '']) => ({
        file: relative(ROOT, path),
        imported: relative(ROOT, join(dirname(path), to)),
      }))
    }),
  )
  return all.flat()
}

const roomOf = (path: string, depth = 1): string => path.split('/').slice(0, depth).join('/')

t.test('the runtime imports nothing of the rooms around it', async (t) => {
  const imports = await importsOf('runtime')
  t.ok(imports.length > 300, 'imports are found')
  t.same(
    imports.filter(({ imported }) => !['runtime', 'packages'].includes(roomOf(imported))),
    [],
  )
})

t.test('what happens in a call takes its time from the clock it is given', async (t) => {
  const rooms = ['call-log', 'conversation', 'link', 'media', 'session']
  const [files, own] = [[], []] as [string[], string[]]
  for (const room of rooms) {
    for (const entry of await readdir(join(ROOT, 'runtime', room), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      files.push(entry.name)
      const text = await readFile(join(entry.parentPath, entry.name), 'utf8')
      if (/\b(?:performance|Date)\.now\(|\bnew Date\(\)|\bhrtime\b/.test(text)) own.push(entry.name)
    }
  }
  t.ok(files.length > 80, 'files are found')
  t.same(own, [], 'has a clock of its own')
})

t.test('workers import nothing of the api', async (t) => {
  t.same(
    (await importsOf('workers')).filter(({ imported }) => roomOf(imported) === 'api'),
    [],
  )
})

t.test('a plugin imports the runtime, the package that plugins are written with, and itself', async (t) => {
  const strangers = (await importsOf('plugins')).filter(
    ({ file, imported }) =>
      roomOf(imported) !== 'runtime' &&
      roomOf(imported, 2) !== 'packages/plugin' &&
      roomOf(imported, 2) !== roomOf(file, 2),
  )
  t.same(strangers, [])
})

t.test('the store and the configuration import no role', async (t) => {
  const imports = [...(await importsOf('store')), ...(await importsOf('config'))]
  t.same(
    imports.filter(({ imported }) => ['api', 'workers', 'plugins'].includes(roomOf(imported))),
    [],
  )
})
