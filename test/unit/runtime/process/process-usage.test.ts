import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { processUsage } from '../../../../runtime/process/process-usage.ts'

const skip = process.platform !== 'linux' && 'the system tells on Linux alone'

t.test('what a process holds and used is told, and who started it, whatever its name is', { skip }, async (t) => {
  const work = 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'
  const child = spawn('sh', ['-c', `echo ') 1 (a b' >/proc/self/comm; ${work}; echo worked; read end`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const usage = processUsage(child.pid)
  t.equal(usage?.parentPid, process.pid)
  t.ok(usage !== undefined && usage.memoryBytes > 0 && usage.cpuMs > 0)
  t.equal(processUsage(child.pid, child.pid)?.parentPid, process.pid, 'its first thread')
  child.stdin.end()
  await once(child, 'close')
  t.equal(processUsage(child.pid), undefined, 'one that is gone')
  t.equal(processUsage(undefined), undefined)
})
