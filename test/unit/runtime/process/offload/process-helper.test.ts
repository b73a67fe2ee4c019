import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { ProcessHelper } from '../../../../../runtime/process/offload/process-helper.ts'

const ENTRY = new URL('../../working-process.ts', import.meta.url)

/** A process, what it tells one after the other, and its end. */
function start(t: { teardown(end: () => Promise<void>): void }, entry = ENTRY) {
  const heard: unknown[] = []
  const told = new EventTarget()
  const exited = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<Error>()
  const helper = new ProcessHelper<unknown>(
    { entry, flags: ['--max-old-space-size=64'] },
    {
      message(message) {
        heard.push(message)
        told.dispatchEvent(new Event('message'))
      },
      error: failed.resolve,
      exit: exited.resolve,
    },
  )
  t.teardown(() => helper.end())
  const next = async (): Promise<unknown> => {
    while (heard.length === 0) await once(told, 'message')
    return heard.shift()
  }
  return { helper, next, exited: exited.promise, failed: failed.promise }
}

t.test('it takes messages and bytes in their order, from before it runs', async (t) => {
  const { helper, next, exited } = start(t)
  t.equal(helper.usedMs(), undefined, 'its start is none of its work')
  const message = { text: 'Zoë', at: new Date(0), list: [1, undefined] }
  helper.post(message)
  t.same(await next(), message)
  t.type(helper.usedMs(), 'number')
  const bytes = Buffer.alloc(300_000, 1)
  await helper.write(bytes)
  await helper.write(Buffer.alloc(0))
  helper.post('after')
  t.same(await next(), { bytes: 300_000, sum: 300_000 })
  t.same(await next(), { bytes: 0, sum: 0 })
  t.equal(await next(), 'after')
  t.equal(await helper.leavesLittle(), true)
  helper.post('hoard')
  t.equal(await next(), 'hoard')
  t.equal(await helper.leavesLittle(), false)
  await helper.end()
  await t.resolves(exited)
  t.equal(await helper.leavesLittle(), false, 'one that is gone is not worth keeping')
})

t.test('its end is told, whoever brought it about, and holds up nobody', async (t) => {
  const dying = start(t)
  dying.helper.post('die')
  await dying.exited
  await t.resolves(dying.helper.write(Buffer.alloc(1_000_000)), 'there is nobody to wait for')
  await t.resolves(dying.helper.end())

  const spinning = start(t)
  spinning.helper.post('spin')
  while ((spinning.helper.usedMs() ?? 0) === 0) await sleep(20)
  await spinning.helper.end()
  await t.resolves(spinning.exited)

  const early = start(t)
  await early.helper.end()
  await t.resolves(early.exited, 'though it had not begun')

  const absent = start(t, new URL('./no-such-process.ts', import.meta.url))
  await t.resolves(absent.exited)
})
