import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Lock, missingEntries } from '../../scripts/complete-lock.ts'

t.test('the lock file names the packages of every platform and no download address', async (t) => {
  const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')
  t.same(missingEntries(JSON.parse(text) as Lock), [], 'run: node scripts/complete-lock.ts')
  t.notMatch(text, '"resolved"')
})

t.test('a missing package gets its platform from its name and the rest from its sibling', async (t) => {
  const lock: Lock = {
    packages: {
      'node_modules/tool': {
        version: '1.0.0',
        dev: true,
        optionalDependencies: { 'tool-linux-x64': '1.0.0', 'tool-darwin-arm64': '1.0.0' },
      },
      'node_modules/tool-linux-x64': {
        version: '1.0.0',
        os: ['linux'],
        cpu: ['x64'],
        license: 'MIT',
        optional: true,
        dev: true,
      },
    },
  }
  t.same(missingEntries(lock), [
    [
      'node_modules/tool-darwin-arm64',
      { version: '1.0.0', os: ['darwin'], cpu: ['arm64'], license: 'MIT', optional: true, dev: true },
    ],
  ])
})

t.test('a package nested in its parent is found', async (t) => {
  const packages = {
    'node_modules/a/node_modules/b': { version: '1.0.0', optionalDependencies: { c: '1.0.0' } },
    'node_modules/a/node_modules/c': { version: '1.0.0' },
  }
  t.same(missingEntries({ packages }), [])
})
