import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ProcessorAllowance } from '../../../../../runtime/process/offload/processor-allowance.ts'
import { type Helper, type HelperListener, WarmHelpers } from '../../../../../runtime/process/offload/warm-helpers.ts'

/** A helper whose work, priority and memory are what the test says. */
class Puppet implements Helper {
  readonly listener: HelperListener<string>
  used: number | undefined = 0
  looks = 0
  isLow = false
  isEnded = false
  mayRaise = true
  hoards = false

  constructor(listener: HelperListener<string>) {
    this.listener = listener
  }

  usedMs(): number | undefined {
    this.looks++
    return this.used
  }

  ref(): void {}
  unref(): void {}
  leavesLittle = async (): Promise<boolean> => !this.hoards

  lower(): boolean {
    this.isLow = true
    return true
  }

  raise(): boolean {
    if (this.mayRaise) this.isLow = false
    return this.mayRaise
  }

  async end(): Promise<void> {
    this.isEnded = true
    this.listener.exit()
  }
}

const deaf = { message: () => {}, error: () => {}, exit: () => {} }

function poolOf(mostWarm: number) {
  const clock = { ms: 0 }
  const started: Puppet[] = []
  const pool = new WarmHelpers<string, Puppet>({
    start(listener) {
      const puppet = new Puppet(listener)
      started.push(puppet)
      return puppet
    },
    mostWarm,
    allowance: new ProcessorAllowance(() => clock.ms),
  })
  /** Holds one for a piece of work that takes so much of the processor. */
  const perform = async (workspaceId: string, ms: number, wasDone = true): Promise<Puppet> => {
    const { helper, release } = pool.hold(deaf, workspaceId)
    helper.used = (helper.used ?? 0) + ms
    await release(wasDone)
    return helper
  }
  return { pool, started, perform, clock }
}

t.test('helpers stay for the next work', async (t) => {
  const { pool, started, perform } = poolOf(3)
  const first = await perform('a', 1)
  t.equal(await perform('b', 1), first, 'one after the other')
  t.equal(started.length, 1)
  const both = [pool.hold(deaf, 'a'), pool.hold(deaf, 'b')]
  t.not(both[0]?.helper, both[1]?.helper, 'each for one holder alone')
  t.equal(started.length, 3, 'and one more is made ready beside two that work')
  await Promise.all(both.map(({ release }) => release(true)))
  await Promise.all(['a', 'b', 'c'].map((workspaceId) => perform(workspaceId, 1)))
  t.equal(started.length, 3, 'they are as many as may wait')
})

t.test('one whose work was not done, that left much in memory, or that ended does no more work', async (t) => {
  const { perform, started } = poolOf(1)
  const undone = await perform('a', 1, false)
  t.equal(undone.isEnded, true)
  const hoarding = await perform('a', 1)
  t.not(hoarding, undone)
  hoarding.hoards = true
  t.equal(await perform('a', 1), hoarding)
  t.equal(hoarding.isEnded, true)
  const dying = await perform('a', 1)
  dying.listener.exit()
  t.not(await perform('a', 1), dying, 'nor one that ended as it waited')
  t.equal(started.length, 4)
})

t.test('what its helper tells goes to whoever holds it', async (t) => {
  const { pool } = poolOf(1)
  const told: string[] = []
  const listenerOf = (name: string): HelperListener<string> => ({
    message: (message) => told.push(`${name} ${message}`),
    error: ({ message }) => told.push(`${name} ${message}`),
    exit: () => told.push(`${name} exit`),
  })
  const first = pool.hold(listenerOf('first'), 'a')
  first.helper.listener.message('1')
  await first.release(true)
  first.helper.listener.message('late')
  const second = pool.hold(listenerOf('second'), 'a')
  second.helper.listener.message('2')
  second.helper.listener.error(new Error('broken'))
  second.helper.listener.exit()
  await second.release(true)
  t.same(told, ['first 1', 'second 2', 'second broken', 'second exit'])
})

t.test('work gives way once its workspace has had its allowance, and so does its next', async (t) => {
  const { pool, perform, clock } = poolOf(1)
  for (let i = 0; i < 5; i++) t.equal((await perform('busy', 30)).isLow, i === 4, `after ${30 * (i + 1)} ms`)
  const next = pool.hold(deaf, 'busy')
  t.equal(next.helper.isLow, true, 'from its beginning')
  await next.release(true)
  const other = pool.hold(deaf, 'other')
  t.equal(other.helper.isLow, false, 'not that of another')
  await other.release(true)
  clock.ms += 60_000
  t.equal((await perform('busy', 30)).isLow, false, 'nor its own, once it has rested')
})

t.test('one long piece of work gives way while it goes on', async (t) => {
  const { pool, started } = poolOf(1)
  const begun = pool.hold(deaf, 'other')
  await begun.release(true)
  const helper = started[0]!
  helper.used = undefined
  const { release } = pool.hold(deaf, 'busy')
  helper.used = 1_000
  for (const { looks } = helper; helper.looks < looks + 2; ) await sleep(10)
  t.equal(helper.isLow, false, 'its start is none of its work')
  helper.used += 200
  while (!helper.isLow) await sleep(10)
  await release(true)
})

t.test(
  'one that gives way and may not be raised works on for those that have to give way, and for nobody else',
  async (t) => {
    const { pool, perform, started } = poolOf(2)
    const low = await perform('busy', 200)
    low.mayRaise = false
    const again = pool.hold(deaf, 'busy')
    t.equal(again.helper, low)
    await again.release(true)
    const quiet = await perform('quiet', 1)
    t.not(quiet, low)
    t.equal(quiet.isLow, false)
    t.equal(low.isEnded, true)
    t.equal(started.length, 2)
  },
)
