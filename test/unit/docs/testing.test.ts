import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parseTest } from '../../../runtime/agent-tests/parse.ts'
import { fencesOf } from '../../support/browser/page.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'
import { testFolder } from '../../support/instance/services.ts'

const MAIN = join(import.meta.dirname, '../../../main.ts')
const PAGE = 'docs/agents/testing.md'

t.test('the tests on the page are tests', (t) => {
  for (const text of fencesOf(PAGE, 'yaml')) t.equal(parseTest(text).faults, undefined)
  t.end()
})

t.test('the commands on the page do what it says, without a key', async (t) => {
  const api = await startTestApi(t)
  await startTestJobs(t, api)
  const owner = await api.signUp()
  const made = await owner.client.post('/api-keys', { body: { name: 'CI', scopes: ['read', 'calls', 'agents'] } })
  const root = await testFolder(t)
  await mkdir(join(root, 'bin'))
  await writeFile(join(root, 'bin/patchbay'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`)
  await chmod(join(root, 'bin/patchbay'), 0o755)
  await mkdir(join(root, 'tests'))
  const shell = async (script: string) => {
    const child = spawn('sh', ['-e', '-c', script], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: `${join(root, 'bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
        HOME: root,
        INIT_CWD: root,
        PATCHBAY_URL: api.url,
        PATCHBAY_API_KEY: made.body.key,
      },
    })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text
      })
    }
    const [code] = await once(child, 'close')
    return { code, printed }
  }
  const [first = ''] = fencesOf(PAGE, 'yaml')
  const file = join(root, 'tests/opening-hours.yaml')
  await writeFile(file, first)
  for (const script of fencesOf(PAGE, 'sh')) {
    const { code, printed } = await shell(script)
    t.equal(code, 0, `${script}\n${printed}`)
    if (script.startsWith('patchbay')) t.match(printed, /✓ says when it opens[\s\S]*passed/)
  }
  t.match(
    await readFile(join(root, 'report.xml'), 'utf8'),
    /<testsuites name="patchbay" tests="3" failures="0" errors="0">/,
  )
  t.match(await readFile(join(root, 'report.html'), 'utf8'), /We open at nine on Monday/)
  await writeFile(file, first.replace('20 euros', '30 euros'))
  const failed = await shell("patchbay test tests --agent 'Front desk' --junit report.xml")
  t.equal(failed.code, 1, failed.printed)
  t.match(failed.printed, /✗ says when it opens.*\n\s+fail: heard 30 euros: the caller never heard it/)
  t.match(await readFile(join(root, 'report.xml'), 'utf8'), /<failure type="fail" message="heard 30 euros/)
  await writeFile(file, first.replace('tags:', 'tag:'))
  const unread = await shell('patchbay test tests')
  t.equal(unread.code, 2)
  t.match(unread.printed, /tests\/opening-hours\.yaml:2: tag unknown key `tag`; did you mean `tags`\?/)
  const nobody = await shell("patchbay test tests/opening-hours.yaml --agent 'Nobody'")
  t.equal(nobody.code, 2)
})
