import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Teardown, testFolder } from './services.ts'

/** Every curl must succeed. */
const PROLOGUE = `set -euo pipefail
curl() { command curl -fS --max-time 30 "$@"; }
`

/** Why the examples can't be run here; false: they can. */
export const withoutCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false

/** The blocks of shell commands of `docs/<name>`. */
export function shellExamples(name: string): string[] {
  const document = join(import.meta.dirname, '../../docs', name)
  return [...readFileSync(document, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
}

/** Runs the blocks one after the other in one shell against this server; what each printed. */
export async function runExamples(
  t: Teardown,
  blocks: readonly string[],
  url: string,
): Promise<{ code: number; printed: string[]; complaints: string }> {
  const script = PROLOGUE + blocks.map((block) => `${block}\necho; echo '--- next'\n`).join('')
  const shell = spawn('bash', ['--norc', '-c', script.replace('http://localhost:8080', url)], {
    cwd: await testFolder(t),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  })
  let printed = ''
  let complaints = ''
  shell.stdout.on('data', (chunk) => {
    printed += chunk
  })
  shell.stderr.on('data', (chunk) => {
    complaints += chunk
  })
  const [code] = await once(shell, 'close')
  return { code, printed: printed.split('--- next\n'), complaints }
}
