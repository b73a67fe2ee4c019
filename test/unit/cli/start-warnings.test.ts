import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { openFilesLimit, startWarnings } from '../../../cli/start-warnings.ts'
import { testFolder } from '../../support/instance/services.ts'

t.test('a machine that is too small for its settings is told at the start', async (t) => {
  const good = { roles: ['api', 'voice'] as const, selfContained: false, workerCapacity: 20, openFiles: 65_536 }
  t.same(startWarnings(good), [])
  t.same(startWarnings({ ...good, openFiles: undefined }), [])
  t.match(startWarnings({ ...good, openFiles: 256 }), [/may have 256 files and sockets open.*LimitNOFILE/])
  t.match(startWarnings({ ...good, workerCapacity: 1_000 }), [/PATCHBAY_WORKER_CAPACITY is 1000.*Start more workers/])
  t.same(startWarnings({ ...good, roles: ['api'], workerCapacity: 1_000 }), [], 'an api node has no worker')
})

t.test('the limit of open files is read as Linux says it', async (t) => {
  const file = join(await testFolder(t), 'limits')
  await writeFile(
    file,
    'Limit                     Soft Limit           Hard Limit           Units\nMax open files            256                  1048576              files\n',
  )
  t.equal(await openFilesLimit(file), 256)
  t.equal(await openFilesLimit('/nowhere'), undefined)
})

t.test('this Node is one that units may start', async (t) => {
  await t.resolves(promisify(execFile)(process.execPath, ['scripts/check-node.cjs']))
})
