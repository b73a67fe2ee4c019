import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const PROGRAM = join(import.meta.dirname, '../../../scripts/machine-busy.ts')

t.test('a machine whose processors others keep at work is busy', async (t) => {
  for (let i = 0; i < 2 * availableParallelism(); i++) {
    const loop = spawn('sh', ['-c', 'while :; do :; done'], { stdio: 'ignore' })
    t.teardown(() => loop.kill('SIGKILL'))
    await once(loop, 'spawn')
  }
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM])
  t.equal(stdout, 'busy\n')
})
