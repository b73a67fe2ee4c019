import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { runProgram } from './generate.ts'

/** Python with the generators and libraries of python.txt, or why there is none. */
export type PythonTools = { bin: string; reason?: undefined } | { bin?: undefined; reason: string }

const REQUIREMENTS = join(import.meta.dirname, 'python.txt')
let found: Promise<PythonTools> | undefined

export function pythonTools(): Promise<PythonTools> {
  found ??= install().catch((error: Error) => ({
    reason: `no Python with the packages of python.txt: ${error.message.slice(0, 500)}`,
  }))
  return found
}

/** Kept in the user's cache, by what is in it: a minute, once a machine. */
async function install(): Promise<PythonTools> {
  const text = await readFile(REQUIREMENTS)
  const version = await runProgram('python3', ['--version'], homedir())
  const cache = process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache')
  const digest = createHash('sha256').update(text).update(version).digest('hex').slice(0, 12)
  const folder = join(cache, 'patchbay', `python-${digest}`)
  const bin = join(folder, 'bin')
  if (existsSync(join(folder, 'complete'))) return { bin }
  const made = `${folder}-${process.pid}`
  try {
    await runProgram('python3', ['-m', 'venv', made], homedir())
    await runProgram(
      join(made, 'bin/python'),
      ['-m', 'pip', 'install', '-q', '--disable-pip-version-check', '-r', REQUIREMENTS],
      homedir(),
    )
    await runProgram('touch', [join(made, 'complete')], homedir())
    await rename(made, folder).catch(() => {})
  } finally {
    await rm(made, { recursive: true, force: true })
  }
  return existsSync(join(folder, 'complete')) ? { bin } : { reason: `${folder} could not be made` }
}
