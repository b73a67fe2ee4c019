import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { DrainLog } from '../../../cli/drain-log.ts'

function heard() {
  const lines: string[] = []
  const line = (level: string) => (_: unknown, text?: string) => void lines.push(`${level} ${text}`)
  return { lines, log: { info: line('info'), warn: line('warn') } }
}

t.test('a drain says why it began and with what, what remains, what was cut, and that it ended', async (t) => {
  const { lines, log } = heard()
  let calls = 3
  const roles = [{ name: 'api', calls: () => calls }, { name: 'jobs' }]
  const drain = new DrainLog({ log, roles, reason: 'SIGTERM', limitMs: 180, intervalMs: 60 })
  await sleep(80)
  calls = 1
  for (const until = performance.now() + 5_000; lines.length < 5 && performance.now() < until; ) await sleep(20)
  calls = 0
  drain.stopped()
  t.equal(lines[0], 'info Draining because of SIGTERM: 3 calls; they may go on for 1 s')
  t.equal(lines[1], 'info Draining: 3 calls, 1 s left')
  t.ok(lines.includes('info Draining: 1 call, 1 s left'), lines.join('\n'))
  t.ok(lines.includes('warn The time to drain is over: 1 call cut off'))
  t.match(lines.at(-1), /^info Stopped after \d+ s of draining$/)
  const count = lines.length
  await sleep(150)
  t.equal(lines.length, count, 'nothing is said afterwards')
})

t.test('a drain without calls, and one that a second signal ends', async (t) => {
  const { lines, log } = heard()
  new DrainLog({ log, roles: [{ name: 'jobs' }], reason: 'drain', limitMs: 3_600_000 }).stopped()
  t.same(lines, ['info Draining because of drain: 0 calls', 'info Stopped after 0 s of draining'])
  const drain = new DrainLog({ log, roles: [{ name: 'voice', calls: () => 2 }], reason: 'SIGINT', limitMs: 3_600_000 })
  drain.forced()
  t.match(lines.at(-2), '2 calls; they may go on for 60 min')
  t.equal(lines.at(-1), 'warn A second signal stops at once: 2 calls cut off')
})
