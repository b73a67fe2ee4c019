import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { startTestApi } from '../support/api.ts'
import { testFolder } from '../support/services.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/campaigns.md')
const PROLOGUE = `set -euo pipefail
curl() { command curl -fS --max-time 30 "$@"; }
`
const withoutCurl = spawnSync('curl', ['--version']).error ? 'curl is not installed' : false

t.test(
  'the examples of docs/campaigns.md run as they are written',
  { timeout: 120_000, skip: withoutCurl },
  async (t) => {
    const api = await startTestApi(t)
    const blocks = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
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
    const [code] = await once(shell, 'close')
    t.equal(code, 0, complaints)
    const [, made = '', looked = ''] = printed.split('--- next\n')
    t.match(made, /"slug":"renewals"/)
    t.match(made, /Loading 3 rows in 1 batch/)
    t.match(looked, /"status":"(Stopped|Completed|Running)"/)
  },
)
