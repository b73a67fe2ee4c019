import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import t from 'tap'
import { isOpenToPlugins } from '../../runtime/plugin/guard/imports.ts'

const ROOT = join(import.meta.dirname, '../..')
/** One that is left when the types are gone. */
const KEPT_IMPORT = /^(?:import|export)\s+(?!type\b)[^'"]*?from\s+'(\.{1,2}\/[^']+)'/gm
const IMPORT = /\b(?:from|import)\s*\(?\s*['"](\.{1,2}\/[^'"]+)['"]/g

/** Of every file below the folder: which files of this repository it imports. */
async function importsOf(folder: string, pattern = IMPORT): Promise<{ file: string; imported: string }[]> {
  const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  const all = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      const text = await readFile(path, 'utf8')
      return [...text.matchAll(pattern)].map(([, to = '']) => ({
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

t.test('a plugin imports its own files and what is open to plugins', async (t) => {
  const imports = await importsOf('plugins', KEPT_IMPORT)
  t.ok(imports.length > 200, 'imports are found')
  t.same(
    // One in a process of its own has the package instead.
    imports.filter(
      ({ file, imported }) =>
        roomOf(imported, 2) !== roomOf(file, 2) && imported !== 'packages/plugin/mod.ts' && !isOpenToPlugins(imported),
    ),
    [],
  )
})

/**
 * The floors of the house, the lowest first. A file imports from its own floor and from those below it; rooms that stand on one floor may
 * import each other.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['runtime/lib'],
  ['runtime/call/types', 'runtime/admission'],
  ['runtime/process'],
  ['runtime/media'],
  ['runtime/plugin', 'runtime/plugin-sdk', 'runtime/models'],
  ['runtime/knowledge', 'runtime/webhooks', 'runtime/recording', 'runtime/dialing'],
  ['runtime/call/log'],
  ['runtime/traces'],
  ['runtime/tools'],
  ['runtime/call/link'],
  ['runtime/conversation'],
  ['runtime/call/control', 'runtime/call/path.ts', 'runtime/call/timeline.ts', 'runtime/call/cost.ts'],
  ['runtime/analysis'],
  ['runtime/agent-tests', 'runtime/rollouts'],
]
/** What still looks up a floor, and why. The list only gets shorter. */
const LOOKS_UP: readonly (readonly [from: string, to: string, why: string])[] = [
  ['runtime/plugin', 'runtime/traces', 'a request of a plugin is part of the trace of its call'],
  ['runtime/plugin-sdk', 'runtime/conversation', 'sentences end as the language of the conversation has it'],
  ['runtime/conversation', 'runtime/call/path.ts', 'a conversation runs the list of stages'],
]

/** Of a path its room on a floor; undefined where it stands on none. */
function floorRoom(path: string): { room: string; floor: number } | undefined {
  for (const [floor, rooms] of FLOORS.entries()) {
    const room = rooms.find((one) => path === one || path.startsWith(`${one}/`))
    if (room !== undefined) return { room, floor }
  }
  return undefined
}

t.test('every file of the runtime stands on a floor and imports nothing from above it', async (t) => {
  const imports = await importsOf('runtime')
  const up = new Set<string>()
  for (const { file, imported } of imports) {
    const from = floorRoom(file)
    if (from === undefined) t.fail(`${file} stands on no floor`)
    const to = floorRoom(imported)
    if (from !== undefined && to !== undefined && to.floor > from.floor) up.add(`${from.room} → ${to.room}`)
  }
  t.same([...up].sort(), LOOKS_UP.map(([from, to]) => `${from} → ${to}`).sort())
})

t.test('SQL is written in the store, and scripts of Redis are loaded in its own room there', async (t) => {
  const found: string[] = []
  for (const folder of ['api', 'cli', 'config', 'runtime', 'workers']) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue
      const path = join(entry.parentPath, entry.name)
      const text = await readFile(path, 'utf8')
      const writesSql = /import \{[^}]*\bsql\b[^}]*\} from 'kysely'|\b(?:client|pool|db)\.query[(<]/.test(text)
      if (writesSql || text.includes('loadScript(')) found.push(relative(ROOT, path))
    }
  }
  t.same(found, [])
})

t.test('no folder has more than 25 files beside each other, but that of the migrations', async (t) => {
  const server = ['api', 'cli', 'config', 'plugins', 'runtime', 'store', 'workers']
  for (const folder of [
    ...server,
    'web/console/src',
    'packages/web/src',
    'bench',
    'deploy',
    'docs',
    'scripts',
    'test',
  ]) {
    const entries = await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })
    const counts = new Map<string, number>()
    for (const { parentPath } of entries.filter((entry) => entry.isFile())) {
      counts.set(parentPath, (counts.get(parentPath) ?? 0) + 1)
    }
    const full = [...counts].filter(([place, n]) => n > 25 && !place.endsWith('/migrations'))
    t.same(full, [], folder)
  }
})

t.test('what happens in a call takes its time from the clock it is given', async (t) => {
  const rooms = ['call', 'conversation', 'media']
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
