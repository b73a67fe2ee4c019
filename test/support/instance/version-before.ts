import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Within } from './instance.ts'
import type { Teardown } from './services.ts'

const ROOT = join(import.meta.dirname, '../../..')
const MIGRATIONS = 'store/migrations/index.ts'
const run = promisify(execFile)
const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: ROOT })).stdout.trim()

/** The commit `ROLL_FROM` names, else the one before the database was last changed. Undefined: this is no checkout with a history. */
export async function commitBefore(): Promise<string | undefined> {
  try {
    const named = process.env.ROLL_FROM
    if (named) return await commitNamed(named)
    const changed = await git('log', '-1', '--format=%H', '--', MIGRATIONS)
    return await git('rev-parse', '--verify', `${changed}^{commit}~1`)
  } catch {
    return undefined
  }
}

/** The commit `ROLL_TO` names. Undefined: this version. */
export async function commitAfter(): Promise<string | undefined> {
  const named = process.env.ROLL_TO
  return named ? await commitNamed(named) : undefined
}

const commitNamed = (name: string): Promise<string> => git('rev-parse', '--verify', `${name}^{commit}`)

/** A checkout of that commit in a folder of its own, with the packages of this one, to start roles from. Removed when `t` ends. */
export async function checkoutOf(t: Teardown, commit: string): Promise<Within> {
  // On the file system of the packages, which are linked: native code runs only from the checkout's own.
  await mkdir(join(ROOT, '.tap'), { recursive: true })
  const folder = await mkdtemp(join(ROOT, '.tap/before-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  await run('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', commit, folder], { cwd: ROOT })
  await run('cp', ['-al', join(ROOT, 'node_modules'), join(folder, 'node_modules')])
  await cp(join(ROOT, 'packages/web/dist'), join(folder, 'packages/web/dist'), { recursive: true })
  // Nobody looks at its console, which would be built for a minute.
  const key = `import { builtFolder } from ${JSON.stringify(join(folder, 'web/console/build-key.ts'))}
    console.log(builtFolder())`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', key])
  await mkdir(stdout.trim(), { recursive: true })
  await writeFile(join(stdout.trim(), 'index.html'), '<!doctype html>')
  await writeFile(join(folder, 'COMMIT'), commit)
  return { command: [], node: process.execPath, env: {}, main: join(folder, 'main.ts') }
}
