import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { RestClient } from '../../../scripts/demo/rest.ts'
import { fencesOf } from '../../support/browser/page.ts'
import { SILENT, startInstance } from '../../support/instance/instance.ts'
import { emptyDatabase, testFolder } from '../../support/instance/services.ts'

const ROOT = join(import.meta.dirname, '../../..')
const LIMIT_MS = 900_000
const COMMAND = 'npm run patchbay '
const run = promisify(execFile)

/** What each command of the page says; `fails`: what it asks about is not there. */
const SAYS: readonly (readonly [command: RegExp, says: RegExp, fails?: true])[] = [
  [/^backup backups\/today/, /Wrote .*today\.tar\.gz/],
  [/^backup backups\/ -- --verify/, /Wrote .*patchbay-.*verified/is],
  [/^verify /, /today\.tar\.gz/],
  [/^restore /, /Restored .*today\.tar\.gz/],
  [/^move /, /DATABASE_URL/],
  [/^admin maintenance on /, /maintenance/i],
  [/^admin maintenance$/, /The database is being moved/],
  [/^admin maintenance off/, /maintenance/i],
  [/^admin calls$/, /./],
  [/^admin calls (explain|release) /, /not|no /i, true],
  [/^admin reset-password ada@example.com/, /http/],
  [/^admin make-operator ada@example.com/, /ada@example.com/],
  [/^admin signup closed/, /closed/],
  [/^admin suspend sales-2 unpaid invoice/, /sales-2/],
]

t.test('the commands of docs/operations.md run as printed', { timeout: LIMIT_MS }, async (t) => {
  const commands = fencesOf('docs/operations.md', 'text')
    .flatMap((block) => block.split('\n'))
    .filter((line) => line.startsWith(COMMAND))
  t.ok(commands.length > 10)
  const folder = await testFolder(t)
  const instance = await startInstance(t, SILENT)
  const { rest } = await makeAgent(instance.url)
  const password = 'a-long-password-of-ada'
  const ada = { name: 'Ada', email: 'ada@example.com', password, phone_number: '+14155550101' }
  await new RestClient(instance.url).send('POST', '/auth/signup', ada)
  for (const name of ['Sales', 'Sales']) await rest.send('POST', '/workspaces', { name, type: 'business' })
  const here = { PATCHBAY_DATA_DIR: instance.dataDir }
  const elsewhere = { PATCHBAY_DATA_DIR: join(folder, 'restored') }
  const target = await emptyDatabase(t)
  /** Paths and addresses are the test's. */
  const ask = async (line: string) => {
    const words = line.replaceAll('backups/', `${folder}/backups/`).replace(/--to=\S+/, `--to='${target}'`)
    const data = /^restore |^move /.test(line.slice(COMMAND.length)) ? elsewhere : here
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, PATCHBAY_ENV_FILE: 'none', ...data }
    const {
      stdout,
      stderr,
      code = 0,
    } = await run('sh', ['-c', `mkdir -p '${folder}/backups' && ${words}`], {
      cwd: ROOT,
      env,
    }).catch((error) => error)
    return { text: `${stdout}${stderr}`, code }
  }
  for (const line of commands) {
    const command = line.slice(COMMAND.length)
    const expected = SAYS.find(([is]) => is.test(command))
    if (expected === undefined) {
      t.fail(`nothing is expected of "${line}"`)
      continue
    }
    const [, says, fails = false] = expected
    const { text, code } = await ask(line)
    t.equal(code !== 0, fails, `${line}: ${text.slice(-500)}`)
    t.match(text, says, line)
  }
})
