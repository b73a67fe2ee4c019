import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'

const ROLE = join(import.meta.dirname, 'logging-role.ts')
const END_LIMIT_MS = 60_000

/** A role that is ready to log. */
async function role(t: Test): Promise<ChildProcess & { stdout: NonNullable<ChildProcess['stdout']> }> {
  const child = fork(ROLE, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child as ChildProcess & { stdout: NonNullable<ChildProcess['stdout']> }
}

const ended = (child: ChildProcess) => once(child, 'exit', { signal: AbortSignal.timeout(END_LIMIT_MS) })

t.test('what a role logged before it ended is read to its end', async (t) => {
  const child = await role(t)
  const lines = text(child.stdout)
  child.send('end')
  await ended(child)
  const last = (await lines).trim().split('\n').at(-1) ?? ''
  t.match(JSON.parse(last), { line: 4_999 })
})

t.test('a role ends whose log is read no more', async (t) => {
  const child = await role(t)
  child.stdout.destroy()
  await once(child.stdout, 'close')
  child.send('end')
  t.same(await ended(child), [0, null])
})

t.test('a role goes on and ends whose log has no room', async (t) => {
  const full = await open('/dev/full', 'w')
  t.teardown(() => full.close())
  const child = fork(ROLE, { stdio: ['ignore', full.fd, 'inherit', 'ipc'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  child.send('log')
  await once(child, 'message')
  child.send('end')
  t.same(await ended(child), [0, null])
})

t.test('a role ends whose log nobody reads on', async (t) => {
  const child = await role(t)
  child.send('end')
  t.same(await ended(child), [0, null])
})
