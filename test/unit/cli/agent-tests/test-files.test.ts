import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readTestFiles } from '../../../../cli/agent-tests/test-files.ts'
import { testOptions } from '../../../../cli/agent-tests/tests-usage.ts'
import { testFolder } from '../../../support/instance/services.ts'

const TEST = 'name: says hello\ncaller: { say: [Hello] }\nexpect: [{ heard: hello }]\n'

t.test('tests are found in folders and files, by a path from where the user is or from the root', async (t) => {
  const cwd = await testFolder(t)
  await mkdir(join(cwd, 'tests/more'), { recursive: true })
  await writeFile(join(cwd, 'tests/a.yaml'), TEST)
  await writeFile(join(cwd, 'tests/more/b.yml'), TEST.replace('heard', 'herd'))
  const fault = 'tests/more/b.yml:3: expect.0.herd unknown key `herd`; did you mean `heard`?'
  for (const path of ['tests', join(cwd, 'tests')]) {
    t.match(await readTestFiles([path], cwd), { tests: [{ file: 'tests/a.yaml' }], faults: [fault] })
  }
  t.same((await readTestFiles(['nowhere'], cwd)).faults, ['nowhere: there is no such file or folder'])
})

t.test('tests run in text unless a channel is named', (t) => {
  t.notOk('channel' in testOptions(['tests']))
  t.match(testOptions(['--audio', 'tests']), { channel: 'audio', paths: ['tests'] })
  t.match(testOptions(['tests', '--sip', '--times=3']), { channel: 'sip', times: 3 })
  t.match(testOptions(['--of-call=0197f3a2', '--audio']), { ofCall: '0197f3a2', channel: 'audio' })
  t.match(testOptions(['--sip=yes']), { fault: '"--sip=yes" is no option of patchbay test' })
  t.end()
})
