/** `npm run bench -- <name>`: runs bench/<name>.ts, or says which there are. */
import { readdir } from 'node:fs/promises'
import { cacheModules } from '../runtime/process/module-cache.ts'

// As Patchbay does: its threads begin with kept modules.
cacheModules()

const BENCHMARKS = (await readdir(import.meta.dirname, { withFileTypes: true }))
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && entry.name !== 'run.ts')
  .map((entry) => entry.name.slice(0, -3))

const [name = '', ...args] = process.argv.slice(2)
if (BENCHMARKS.includes(name)) {
  const { run } = (await import(`./${name}.ts`)) as { run: (args: readonly string[]) => Promise<void> }
  await run(args)
} else {
  process.stderr.write(`Usage: npm run bench -- <name>, one of: ${BENCHMARKS.join(', ')}\n`)
  process.exitCode = 1
}
