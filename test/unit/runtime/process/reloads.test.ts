import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { PatchbayError } from '../../../../runtime/lib/errors.ts'
import { createLogger } from '../../../../runtime/process/log.ts'
import { Reloads } from '../../../../runtime/process/reloads.ts'

function reloadsOf(read: () => string) {
  const lines: string[] = []
  const log = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } })
  const reloads = new Reloads<string>(() => ({ config: read(), changed: ['A'], needsRestart: ['B'] }), log)
  return { reloads, log: () => lines.join('') }
}

t.test('all or nothing: where one part can’t be read, no part changes, and the log says why', async (t) => {
  let config = 'first'
  const { reloads, log } = reloadsOf(() => config)
  const inForce: Record<string, string> = {}
  reloads.watch(async (next) => () => {
    inForce.level = next
  })
  reloads.watch(async (next) => {
    if (next === 'faulty') throw new PatchbayError('configuration', { params: { reason: 'Prices have a fault.' } })
    return () => {
      inForce.prices = next
    }
  })
  t.same(await reloads.reload('SIGHUP'), { changed: ['A'], needsRestart: ['B'] })
  t.same(inForce, { level: 'first', prices: 'first' })
  t.match(log(), /"variables":\["B"\].*wait for a restart/)
  config = 'faulty'
  await t.rejects(reloads.reload('SIGHUP'), { message: 'Prices have a fault.' })
  t.same(inForce, { level: 'first', prices: 'first' })
  t.match(log(), /Prices have a fault.*was not reloaded/)
  config = 'third'
  await reloads.reload('SIGHUP')
  t.same(inForce, { level: 'third', prices: 'third' }, 'a reload that failed keeps none from the next')
})

t.test('reloads come one after the other, and what was asked for last is in force', async (t) => {
  let config = 'slow'
  const { reloads } = reloadsOf(() => config)
  const slow = Promise.withResolvers<void>()
  const applied: string[] = []
  reloads.watch(async (next) => {
    if (next === 'slow') await slow.promise
    return () => void applied.push(next)
  })
  const first = reloads.reload('SIGHUP')
  await setImmediate()
  config = 'quick'
  const second = reloads.reload('SIGHUP')
  slow.resolve()
  await Promise.all([first, second])
  t.same(applied, ['slow', 'quick'])
})
