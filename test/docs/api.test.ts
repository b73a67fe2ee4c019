import { spawn, spawnSync } from 'node:child_process'
import { once as occurs } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startTestApi } from '../support/api.ts'
import { testFolder } from '../support/services.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/api.md')

/** Every curl must succeed, and what it printed is kept. */
const PROLOGUE = `set -euo pipefail
curl() { command curl -fS --max-time 30 "$@"; }
`

const withoutCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false

t.test(
  'the examples of docs/api.md run as they are written, one after the other',
  { timeout: 120_000, skip: withoutCurl },
  async (t) => {
    const api = await startTestApi(t)
    const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
    t.ok(blocks.length >= 5, `${blocks.length} examples`)
    t.match(blocks[0], 'base=http://localhost:8080')
    const script = PROLOGUE + blocks.map((block) => `${block}\necho; echo '--- next'\n`).join('')
    const shell = spawn('bash', ['--norc', '-c', script.replace('http://localhost:8080', api.url)], {
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
    const [code] = await occurs(shell, 'close')
    t.equal(code, 0, complaints)
    const [signedIn = '', agents = '', ofWorkspace = '', once = '', page = '', session = ''] =
      printed.split('--- next\n')
    t.match(signedIn, '"email":"ada@example.com"')
    t.match(agents, '[]')
    t.match(ofWorkspace, '[]')
    const [first = '', second = ''] = once.trim().split('\n')
    t.match(JSON.parse(first), { direction: 'outbound', to_number: '+14155550199' })
    t.equal(second, first, 'the second answer is the first')
    t.match(JSON.parse(page), { items: [], total: 0, page: 2, page_size: 50, total_pages: 0 })
    t.match(JSON.parse(session), { realtime_url: /^ws:/, call_log_id: /^[0-9a-f-]{36}$/ })
  },
)
