import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import t from 'tap'
import { hashPassword, passwordMatches } from '../../../../api/auth/password.ts'

t.test('a password is known by its hash', async (t) => {
  const stored = await hashPassword('correct horse', 'ada')
  t.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  t.equal(await passwordMatches(stored, 'correct horse', 'ada'), true)
  t.equal(await passwordMatches(stored, 'battery staple', 'ada'), false)
  t.equal(await passwordMatches(undefined, 'correct horse', 'ada'), false)
})

t.test('what is no hash is answered as a failure, and the next one is computed', async (t) => {
  await t.rejects(passwordMatches('no hash', 'correct horse', 'ada'), { code: 'unavailable' })
  t.match(await hashPassword('correct horse', 'ada'), /^\$argon2id\$/)
})

t.test(
  'a flood of logins is computed by threads that give way to audio',
  { skip: process.platform !== 'linux' && 'threads have a priority of their own on Linux alone' },
  async (t) => {
    await Promise.all([hashPassword('warm up', 'a'), hashPassword('warm up', 'b')])
    const before = ticksOf()
    await Promise.all(Array.from({ length: 24 }, (_, i) => hashPassword('correct horse', `someone ${i}`)))
    const after = ticksOf()
    const [lowered, others] = [after.lowered - before.lowered, after.others - before.others]
    t.ok(lowered > 4 * others, `${lowered} ticks of the processor against ${others}`)
  },
)

/** What threads of this process used of the processor, those of a lower priority than this one's and the others. */
function ticksOf(): { lowered: number; others: number } {
  const ticks = { lowered: 0, others: 0 }
  for (const id of readdirSync('/proc/self/task')) {
    const stat = readFileSync(`/proc/self/task/${id}/stat`, 'utf8')
    // Fields 14, 15 and 19 of proc_pid_stat(5).
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const used = (fields[11] ?? 0) + (fields[12] ?? 0)
    if ((fields[16] ?? 0) > getPriority()) ticks.lowered += used
    else ticks.others += used
  }
  return ticks
}
