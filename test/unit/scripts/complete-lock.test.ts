import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Lock, missingEntries, withoutDigest } from '../../../scripts/complete-lock.ts'
import { scriptsToRun } from '../../../scripts/install-scripts.ts'

t.test('the lock file names the packages of every platform and no download address', async (t) => {
  const text = readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')
  t.same(missingEntries(JSON.parse(text) as Lock), [], 'run: node scripts/complete-lock.ts')
  t.notMatch(text, /"resolved": "(?!web\/console")/)
})

/** Of other platforms than linux-x64, which the registry this lock was made with does not serve. */
const WITHOUT_DIGEST = /^@(biomejs\/cli|deno|msgpackr-extract\/msgpackr-extract|tailwindcss\/oxide|uwsjs)[/-]/

t.test('the lock file has a digest of every package but some of other platforms', async (t) => {
  const lock = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package-lock.json'), 'utf8')) as Lock
  const lacking = withoutDigest(lock).map(([, spec]) => spec)
  t.same(
    lacking.filter((spec) => !WITHOUT_DIGEST.test(spec) || /linux-x64(-\d+)?@/.test(spec)),
    [],
    'run: node scripts/complete-lock.ts',
  )
  t.ok(lacking.length <= 43, `${lacking.length} lack one`)
})

t.test('a package without a digest, or with a weak one, is named', async (t) => {
  const entry = (integrity?: string) => ({ version: '1.0.0', ...(integrity && { integrity }) })
  const sound = `sha512-${'A'.repeat(86)}==`
  const packages = {
    '': { version: '1.0.0' },
    'packages/own': { version: '1.0.0' },
    'node_modules/own': { link: true },
    'node_modules/sound': entry(sound),
    'node_modules/none': entry(),
    'node_modules/weak': entry('sha1-abc='),
    'node_modules/a/node_modules/@b/c': entry(),
    'node_modules/alias': { ...entry(), name: '@real/name' },
  }
  t.same(
    withoutDigest({ packages }).map(([, spec]) => spec),
    ['none@1.0.0', 'weak@1.0.0', '@b/c@1.0.0', '@real/name@1.0.0'],
  )
})

t.test('install scripts run by name alone', async (t) => {
  t.same(
    scriptsToRun({ wanted: true, off: false, elsewhere: true }, (name) => name !== 'elsewhere'),
    ['wanted'],
  )
  const root = join(import.meta.dirname, '../../..')
  for (const file of ['Dockerfile', 'scripts/run.sh']) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [line] of text.matchAll(/^\s*(?:attended|RUN) npm ci .*$/gm)) t.match(line, '--ignore-scripts', file)
    t.match(text, 'node scripts/install-scripts.ts', file)
    t.notMatch(text, /\bnpx\b/, file)
  }
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>
  }
  for (const [path, { hasInstallScript }] of Object.entries(lock.packages)) {
    const name = path.split('node_modules/').at(-1) ?? ''
    if (hasInstallScript) t.type(allowScripts[name], 'boolean', `${name} is decided on`)
  }
})

t.test('the Node that is fetched, and that of the image, are of one exact version', async (t) => {
  const root = join(import.meta.dirname, '../../..')
  const lines = readFileSync(join(root, 'scripts/node.lock'), 'utf8')
    .split('\n')
    .filter((line) => /^[a-z]/.test(line))
  t.ok(lines.length > 0)
  const versions = lines.map((line) => /^[a-z]+-[a-z0-9]+ (22\.\d+\.\d+) sha512-[A-Za-z0-9+/]{86}==$/.exec(line)?.[1])
  const images = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^FROM node:(\S+)-bookworm-slim/gm)]
  t.equal(new Set([...versions, ...images.map(([, version]) => version)]).size, 1, `${versions} ${images}`)
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
