/** Prints a variable as a start would read it: `node scripts/environment.ts REDIS_URL`. For scripts/run.sh. */
import { readEnvFile, withEnvFile } from '../config/env-file.ts'
import { PatchbayError } from '../runtime/lib/errors.ts'

try {
  process.stdout.write(withEnvFile(process.env, readEnvFile(process.env))[process.argv[2] ?? ''] ?? '')
} catch (error) {
  if (!(error instanceof PatchbayError)) throw error
  process.stderr.write(`patchbay: ${error.message}\n`)
  process.exit(1)
}
