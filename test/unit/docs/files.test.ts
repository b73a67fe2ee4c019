import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { fencesOf } from '../../support/browser/page.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { testFolder } from '../../support/instance/services.ts'

const MAIN = join(import.meta.dirname, '../../../main.ts')
const api = await startTestApi(t)

interface Step {
  run?: string
  if?: string
}

/** The lines of the two recipes, each as a shell runs them. */
const [gitHub, gitLab] = fencesOf('docs/agents/files.md', 'yaml').map((text) => parse(text))
const RECIPES = {
  'GitHub Actions': (gitHub.jobs.agents.steps as Step[]).flatMap(({ run }) => run ?? []),
  'GitLab CI': [...gitLab.agents.before_script, ...gitLab.agents.script] as string[],
}

async function program(path: string, text: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${text}\n`)
  await chmod(path, 0o755)
}

for (const [where, lines] of Object.entries(RECIPES)) {
  t.test(`the recipe for ${where} plans, applies and commits the lock as printed`, async (t) => {
    const root = await testFolder(t)
    const owner = await api.signUp(where)
    const made = await owner.client.post('/api-keys', { body: { name: 'CI', scopes: ['read', 'agents', 'campaigns'] } })
    const bin = join(root, 'bin')
    await mkdir(bin)
    await program(join(bin, 'patchbay'), `exec ${process.execPath} ${MAIN} "$@"`)
    await program(join(bin, 'apt-get'), 'exit 0')
    const shell = async (script: string, cwd: string) => {
      const child = spawn('sh', ['-e', '-c', script], {
        cwd,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
          HOME: root,
          CI_COMMIT_BRANCH: 'main',
          CI_DEFAULT_BRANCH: 'main',
          PATCHBAY_URL: api.url,
          PATCHBAY_API_KEY: made.body.key,
          CRM_KEY: 'secret',
        },
      })
      let printed = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text) => (printed += text))
      const [code] = await once(child, 'close')
      return { code, printed }
    }
    const [agentFile = ''] = fencesOf('docs/agents/files.md', 'md')
    await mkdir(join(root, 'origin.git'))
    const work = join(root, 'work')
    await shell(
      'git init -q --bare -b main origin.git && git -C origin.git config receive.advertisePushOptions true && git clone -q origin.git work 2>&1',
      root,
    )
    await mkdir(join(work, 'voice/agents'), { recursive: true })
    await mkdir(join(work, 'voice/documents/front-desk'), { recursive: true })
    await writeFile(join(work, 'voice/agents/front-desk.md'), agentFile)
    await writeFile(join(work, 'voice/documents/front-desk/hours.md'), 'We open at nine.')
    const begun = await shell(
      'git checkout -q -B main && git add . && git -c user.name=a -c user.email=a@example.com commit -qm Agents && git push -q origin main',
      work,
    )
    t.equal(begun.code, 0, begun.printed)
    for (const line of lines) {
      const { code, printed } = await shell(line, work)
      t.equal(code, 0, `${line}: ${printed}`)
    }
    const [agent] = (await owner.client.get('/agents')).body
    t.match(agent, { agent_name: 'Front desk', documents: 1 })
    const again = await shell('git clone -q ../origin.git ../fresh && cd ../fresh && patchbay plan voice', work)
    t.match(again, { code: 0, printed: /No difference/ }, 'the lock is in the repository')
    const lock = await readFile(join(root, 'fresh/voice/patchbay.lock.json'), 'utf8')
    t.notMatch(lock, /secret/)
    await shell('cd ../fresh && sed -i "s/Harbour/Garden/" voice/agents/front-desk.md', work)
    t.match(await shell('cd ../fresh && patchbay plan voice', work), {
      code: 2,
      printed: /system_prompt: .*Harbour.* → .*Garden/,
    })
    t.match(await shell('cd ../fresh && patchbay plan voice --nonsense', work), {
      code: 1,
      printed: /no option of plan/,
    })
  })
}
