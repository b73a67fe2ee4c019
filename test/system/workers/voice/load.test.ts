import { test } from 'tap'
import { systemClock } from '../../../../runtime/lib/clock.ts'
import { LagGate, watchLoad } from '../../../../workers/voice/load.ts'

test('one stall is no overload, two seconds of stalls are, and two quiet ones end it', (t) => {
  const gate = new LagGate(100)
  const after = (lagMs: number) => {
    gate.sample(lagMs)
    return gate.overloaded
  }
  t.strictSame([300, 10, 150].map(after), [false, false, false])
  t.equal(after(101), true)
  t.strictSame([70, 20].map(after), [true, true], 'lag below the limit, but not far enough')
  t.equal(after(30), false)
  t.end()
})

test('the number shown is the number judged', (t) => {
  const gate = new LagGate(100)
  for (const lagMs of [0, 300, 10, 150, 101, 70, 20, 30, 99, 250, 260, 51, 50, 50, 200]) {
    gate.sample(lagMs)
    t.equal(gate.lagMs > gate.limitMs, gate.overloaded, `after ${lagMs} ms: ${gate.lagMs} of ${gate.limitMs}`)
  }
  t.end()
})

test('the load of this process is measured', async (t) => {
  // A core that is this process's alone, whatever else the machine does.
  const processorMs = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
  const load = watchLoad(100, { ...systemClock, monotonicMs: processorMs })
  t.teardown(() => load.stop())
  const untilMs = performance.now() + 60_000
  while (load.eventLoopLagMs <= 30 && performance.now() < untilMs) {
    const busyUntilMs = performance.now() + 60
    while (performance.now() < busyUntilMs);
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  t.ok(load.eventLoopLagMs > 30, `${load.eventLoopLagMs} ms`)
  t.ok(Math.abs(load.cpuUtilization - 1) < 0.2, `${load.cpuUtilization} of a core`)
})
