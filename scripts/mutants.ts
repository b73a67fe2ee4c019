/**
 * Breaks each rule of the dialer, each boundary between one failure and the rest, or each rule of speech-to-speech models, in turn, in a copy of the repository, and
 * looks whether a test sees it.
 *
 *     node scripts/mutants.ts dialer|boundaries|realtime [--only=retry] [--list]
 *
 * `--only`: rules whose file or sentence has this in it. Ends with 0 only if every mutant was seen.
 */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import boundaries from './mutants/boundaries.json' with { type: 'json' }
import dialer from './mutants/dialer.json' with { type: 'json' }
import realtime from './mutants/realtime.json' with { type: 'json' }

/** A rule that is broken on purpose: `from`, which occurs once in the file, becomes `to`. */
interface Mutant {
  /** What no longer holds. */
  broken: string
  file: string
  from: string
  to: string
  /** One of these must see it. */
  tests: readonly string[]
}

const SETS = { boundaries, dialer, realtime }
const ROOT = join(import.meta.dirname, '..')
const LEFT_OUT = new Set(['node_modules', '.git', '.data', '.tap', 'web'])
/** A mutant that never ends is seen, too. */
const TEST_TIMEOUT_MS = 180_000

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', default: '' }, list: { type: 'boolean', default: false } },
})
const [name = ''] = positionals
if (!Object.hasOwn(SETS, name)) throw new Error(`Name a set of mutants: ${Object.keys(SETS).join(' or ')}`)
const mutants: readonly Mutant[] = SETS[name as keyof typeof SETS].flatMap(({ file, tests, rules }) =>
  rules.map((rule) => ({ ...rule, file, tests })),
)
const chosen = mutants.filter(({ file, broken }) => `${file} ${broken}`.includes(values.only))
const say = (line: string) => void process.stdout.write(`${line}\n`)

function passes(folder: string, test: string): Promise<boolean> {
  const child = spawn(process.execPath, [test], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: String(TEST_TIMEOUT_MS / 1_000) },
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), TEST_TIMEOUT_MS)
  return new Promise((resolve) =>
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code === 0)
    }),
  )
}

/** The test that fails; undefined: none does. */
async function seenBy(folder: string, { file, from, to, tests }: Mutant): Promise<string | undefined> {
  const path = join(folder, file)
  const source = await readFile(path, 'utf8')
  if (source.split(from).length !== 2) throw new Error(`"${from}" must be in ${file} once`)
  await writeFile(
    path,
    source.replace(from, () => to),
  )
  try {
    for (const test of tests) if (!(await passes(folder, test))) return test
    return undefined
  } finally {
    await writeFile(path, source)
  }
}

async function main(folder: string): Promise<boolean> {
  await cp(ROOT, folder, { recursive: true, filter: (path) => path === ROOT || !LEFT_OUT.has(basename(path)) })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const test of new Set(chosen.flatMap(({ tests }) => tests))) {
    if (!(await passes(folder, test))) throw new Error(`${test} fails as it is`)
  }
  let unseen = 0
  for (const mutant of chosen) {
    const test = await seenBy(folder, mutant)
    if (test === undefined) unseen++
    say(
      `${test === undefined ? 'UNSEEN' : 'seen  '} ${mutant.file}: ${mutant.broken}${test === undefined ? '' : ` (${test})`}`,
    )
  }
  say(`${chosen.length - unseen} of ${chosen.length} mutants were seen.`)
  return unseen === 0
}

if (values.list) for (const { file, broken } of chosen) say(`${file}: ${broken}`)
else {
  const folder = await mkdtemp(join(tmpdir(), 'patchbay-mutants-'))
  try {
    process.exitCode = (await main(folder)) ? 0 : 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
