import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Teardown, testFolder } from '../instance/services.ts'

const ROOT = join(import.meta.dirname, '../../..')
const ADDRESS = 'http://localhost:8080'
const BETWEEN = '--- next'

/** Every curl must succeed, and what it printed is kept. */
const RULES = `set -euo pipefail
curl() { command curl -fS --max-time 120 "$@"; }
`

/** Why no example can be run here; false: they can. */
export const withoutCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false

/** The fenced blocks of a page in this language, their indentation taken off. */
export function fencesOf(page: string, language: string): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  return [...text.matchAll(new RegExp(`^( *)\`\`\`${language}\\n(.*?)^ *\`\`\`$`, 'gms'))].map(
    ([, indent = '', block = '']) => block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  )
}

/** The shell examples of a page that talk to the API. */
function examplesOf(page: string): string[] {
  return fencesOf(page, 'sh').filter((block) => /^\s*(\S+=\$\()?curl |\bcurl /m.test(block))
}

/**
 * Runs the examples of these pages as they are printed, one after the other in one shell, against the api at `url`: a page
 * may go on from one before it. `leaveOut`: examples that need an account elsewhere. Throws what the shell complained of
 * when one fails.
 */
export async function runPages(
  t: Teardown,
  url: string,
  pages: readonly string[],
  { leaveOut }: { leaveOut?: RegExp } = {},
): Promise<(page: string) => string[]> {
  const examples = pages.flatMap((page) =>
    examplesOf(page)
      .filter((block) => leaveOut?.test(block) !== true)
      .map((block) => ({ page, block })),
  )
  const script = RULES + examples.map(({ block }) => `${block}\necho; echo '${BETWEEN}'\n`).join('')
  const shell = spawn('bash', ['--norc', '-c', script.replaceAll(ADDRESS, url)], {
    cwd: await testFolder(t),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
  })
  let printed = ''
  let complaints = ''
  shell.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  shell.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const [code] = await once(shell, 'close')
  const texts = printed.split(`${BETWEEN}\n`)
  if (code !== 0) {
    const failed = examples[texts.length - 1]
    throw new Error(`${failed?.page}: ended with ${code}: ${complaints}\n${failed?.block}\n${texts.at(-1)}`)
  }
  return (asked) => examples.flatMap(({ page }, index) => (page === asked ? (texts[index] ?? '') : []))
}
