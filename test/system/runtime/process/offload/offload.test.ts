import t from 'tap'
import { type OffloadOptions, type OffloadTask, offload } from '../../../../../runtime/process/offload/offload.ts'
import type { Act } from './offload-task.ts'

async function fails(
  t: Pick<typeof import('tap').default, 'match'>,
  run: Promise<unknown>,
  like: object,
): Promise<void> {
  t.match(
    await run.then(
      () => 'it did not fail',
      (error: unknown) => error,
    ),
    like,
  )
}

interface Reply {
  who: number
  value: unknown
  answers?: unknown
}

const entry = new URL('./offload-task.ts', import.meta.url)
const KINDS = ['thread', 'process'] as const

function taskOf(t: { teardown(end: () => Promise<void>): void }, given: Partial<OffloadTask<Act, Reply>> = {}) {
  const task: OffloadTask<Act, Reply> = {
    ...{ name: 'test', kind: 'test', entry, priority: 'later', workers: 1, maxWaiting: 10 },
    ...given,
  }
  t.teardown(() => offload.close(task))
  const run = (act: Act['act'], value?: unknown, options: Partial<OffloadOptions> = {}) =>
    offload.run(task, { act, value }, { workspaceId: 'w', ...options })
  return { task, run }
}

for (const isolation of KINDS) {
  t.test(`a ${isolation} runs one input after the other, and stays for the next`, async (t) => {
    const { run } = taskOf(t, { isolation })
    const value = { text: 'Zoë', at: new Date(0), bytes: Uint8Array.of(1, 2), list: [1, undefined] }
    const [first, second] = await Promise.all([run('echo', value), run('echo')])
    t.same(first.value, value)
    t.equal(second.who, first.who)
    t.equal((await run('spoil')).who, first.who)
    t.not((await run('echo')).who, first.who, 'a spoilt one is ended')
  })

  t.test(`what a ${isolation} asks is answered in turn, and what the answer throws ends the run`, async (t) => {
    const { run } = taskOf(t, { isolation })
    const { answers } = await run('ask', 3, { answer: async (question) => ({ question }) })
    t.same(answers, [{ question: 3 }, { question: 'more' }])
    const lost = new Error('database away')
    await t.rejects(
      run('ask', 3, {
        answer() {
          throw lost
        },
      }),
      lost,
    )
    t.same((await run('echo', 4)).value, 4)
  })

  t.test(`a fault in a ${isolation} comes back with its name, its cause and its code`, async (t) => {
    const { run } = taskOf(t, { isolation })
    await fails(t, run('throw'), { reason: 'failed', thrown: { name: 'TypeError', message: 'not this' } })
    await fails(t, run('refuse'), { code: 'unavailable', thrown: { message: 'no database' } })
    await fails(t, run('exit'), { reason: 'ended', cause: { message: /ended/ } })
    t.same((await run('echo', 4)).value, 4, 'another one starts')
    const { run: absent } = taskOf(t, { isolation, entry: new URL('./no-such-task.ts', import.meta.url) })
    await fails(t, absent('echo'), { reason: 'absent' })
  })

  t.test(`a ${isolation} that takes too long is ended: of time, of the processor, without a word`, async (t) => {
    const { run } = taskOf(t, { isolation })
    const { who } = await run('echo')
    await fails(t, run('spin', 0, { deadlineMs: 200 }), { reason: 'timeout', message: /longer than 200 ms/ })
    await fails(t, run('spin', 0, { processorMs: 200 }), { reason: 'timeout', message: /processor/ })
    await fails(t, run('sleep', 60_000, { stallMs: 200 }), { reason: 'timeout', message: /stood still/ })
    const slow = { stallMs: 2_000, answer: () => new Promise((resolve) => setTimeout(resolve, 2_500)) }
    await t.resolves(run('ask', 1, slow), 'the time of an answer is not its own')
    t.not((await run('echo')).who, who)
  })

  t.test(`a run that is given up ends its ${isolation}, and one that waits leaves the line`, async (t) => {
    const { run } = taskOf(t, { isolation })
    const stop = new AbortController()
    const reason = new Error('stopped')
    const spinning = run('spin', 0, { signal: stop.signal })
    const waiting = run('echo', 0, { signal: stop.signal })
    const next = run('echo', 'next')
    stop.abort(reason)
    await Promise.all([t.rejects(spinning, reason), t.rejects(waiting, reason)])
    t.equal((await next).value, 'next')
  })

  t.test(`a ${isolation} that left much in memory is ended`, async (t) => {
    const { run } = taskOf(t, { isolation })
    const { who } = await run('hoard', 0, { memoryMb: 256 })
    t.not((await run('echo', 0, { memoryMb: 256 })).who, who)
  })
}

t.test(
  'the kernel bounds what a process may take of the memory',
  { skip: process.platform !== 'linux' && 'elsewhere V8 alone does' },
  async (t) => {
    const { run } = taskOf(t, { isolation: 'process' })
    await fails(t, run('allocate', 0, { memoryMb: 64 }), { reason: /memory|failed/ })
    t.same((await run('echo', 4, { memoryMb: 64 })).value, 4)
  },
)

t.test('workspaces take turns, each has so many workers, and one too many is refused', async (t) => {
  const { run } = taskOf(t, { workers: 2, mostOfOne: 1, maxWaiting: 3 })
  const order: string[] = []
  const of = (workspaceId: string, name: string) => run('sleep', 100, { workspaceId }).then(() => order.push(name))
  const busy = [of('busy', 'busy 1'), of('busy', 'busy 2'), of('busy', 'busy 3')]
  const quiet = of('quiet', 'quiet')
  await Promise.all([quiet, busy[0]])
  t.notOk(order.includes('busy 2'), 'beside the first of another')
  const more = ['busy 4', 'busy 5'].map((name) => of('busy', name))
  await t.rejects(of('busy', 'busy 6'), { code: 'unavailable' })
  await Promise.all([...busy, ...more])
})

t.test(
  'a worker that takes several inputs at once forgets those that are given up before it came to them',
  async (t) => {
    const { run } = taskOf(t, { atOnce: 10, maxWaiting: 10 })
    await run('echo')
    const stop = new AbortController()
    const asked: unknown[] = []
    const answer = (question: unknown) => asked.push(question)
    const first = run('ask', 'first', { answer })
    const second = run('ask', 'second', { answer, signal: stop.signal })
    stop.abort(new Error('gone'))
    await t.rejects(second, { message: 'gone' })
    await first
    t.same(asked, ['first', 'more'])
  },
)

t.test('closed workers reject what they were at and start nothing more', async (t) => {
  const { task, run } = taskOf(t)
  const ends = [run('spin'), run('echo')].map((one) => fails(t, one, { reason: 'ended', message: /closed/ }))
  await new Promise((resolve) => setTimeout(resolve, 200))
  await offload.close(task)
  await Promise.all(ends)
})
