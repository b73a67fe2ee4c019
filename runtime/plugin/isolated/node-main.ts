/** The program that Node runs for a plugin with native code. */
import { run, stray } from './runner.ts'

process.on('uncaughtException', stray)
process.on('unhandledRejection', stray)

await run()
process.exit(0)
