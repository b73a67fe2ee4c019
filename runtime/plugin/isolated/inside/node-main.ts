/** The program that Node runs for a plugin with native code. */
import { runPlugin, stray } from './runner.ts'

process.on('uncaughtException', stray)
process.on('unhandledRejection', stray)

await runPlugin()
process.exit(0)
