import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { neededBy, npmArguments, type Packages } from '../../../scripts/packages-current.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { packages: real } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Packages }

const [major] = process.versions.node.split('.')
const SERVER = `node_modules/@uwsjs/${process.platform}-${process.arch}-${major}`
const locked: Packages = {
  '': { dependencies: { a: '1' }, devDependencies: { tap: '1', a: '1' }, optionalDependencies: { o: '1' } },
  'web/console': { dependencies: { v: '1' } },
  'node_modules/a': {
    version: '1',
    dependencies: { b: '1' },
    peerDependencies: { p: '1', q: '1' },
    peerDependenciesMeta: { q: { optional: true } },
  },
  'node_modules/a/node_modules/b': { version: '2', optionalDependencies: { o: '1' }, dependencies: { c: '1' } },
  ...Object.fromEntries(
    ['b', 'c', 'p', 'q', 'o', 'v', 'tap'].map((name) => [`node_modules/${name}`, { version: '1' }]),
  ),
  [SERVER]: { version: '1' },
}
const RUN = ['node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c', 'node_modules/p']
const installed = (...paths: string[]): Packages =>
  Object.fromEntries([...paths, SERVER].map((path) => [path, locked[path] ?? {}]))

t.test('running needs no test, lint, benchmark or build package', async (t) => {
  t.same([...neededBy(locked, 'run')].sort(), RUN)
  t.same([...neededBy(locked, 'start')].sort(), [...RUN, 'node_modules/v'])
  t.same([...neededBy(locked, 'all')].sort(), [...RUN, 'node_modules/tap', 'node_modules/v'])
  const [run, start, all] = (['run', 'start', 'all'] as const).map((scope) => neededBy(real, scope))
  for (const name of ['kysely', 'pg', 'uWebSockets.js']) t.ok(run?.has(`node_modules/${name}`), name)
  for (const name of ['vite', 'react-dom', 'esbuild', 'tap', 'autocannon'])
    t.notOk(run?.has(`node_modules/${name}`), name)
  for (const name of ['vite', 'react-dom', 'esbuild']) t.ok(start?.has(`node_modules/${name}`), name)
  for (const name of ['tap', 'autocannon', '@biomejs/biome']) {
    t.notOk(start?.has(`node_modules/${name}`), name)
    t.ok(all?.has(`node_modules/${name}`), name)
  }
})

t.test('what is there already is not installed again', async (t) => {
  t.same(npmArguments(locked, undefined, 'run'), ['ci', '--omit=dev', '--workspaces=false'])
  t.same(npmArguments(locked, undefined, 'start'), ['ci', '--omit=dev'])
  t.same(npmArguments(locked, undefined, 'all'), ['ci'])
  t.equal(npmArguments(locked, installed(...RUN), 'run'), undefined)
  t.same(npmArguments(locked, installed(...RUN), 'start'), ['install', '--no-save', '--omit=dev'])
  t.same(npmArguments(locked, installed(...RUN), 'all'), ['install', '--no-save'])
  const everything = installed(...RUN, 'node_modules/v', 'node_modules/tap')
  for (const scope of ['run', 'start', 'all'] as const) t.equal(npmArguments(locked, everything, scope), undefined)
  const old = { ...everything, 'node_modules/c': { version: '0' } }
  t.same(npmArguments(locked, old, 'run'), ['install', '--no-save'], 'of another lock file; the tests’ packages stay')
  const { [SERVER]: _, ...foreign } = everything
  t.same(npmArguments(locked, foreign, 'all'), ['install', '--no-save'], 'installed under another Node')
})
