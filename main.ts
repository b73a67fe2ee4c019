/** The way in to every command and role. What it loads is kept compiled, so that the next process starts in less time. */
import { cacheModules } from './runtime/process/module-cache.ts'
import { importPacked } from './runtime/process/packed-packages.ts'

cacheModules()
importPacked()
const { runCommandLine } = await import('./cli/command-line.ts')
await runCommandLine(process.argv.slice(2))
