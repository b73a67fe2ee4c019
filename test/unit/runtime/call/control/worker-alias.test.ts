import { test } from 'tap'
import { workerAlias } from '../../../../../runtime/call/control/worker-alias.ts'
import { workerName } from '../../../../../workers/voice/worker-name.ts'

test('a worker goes by the random end of its name', async (t) => {
  const name = workerName('rack-7.internal', 4711)
  t.equal(workerAlias(name), `worker-${name.slice(-12)}`)
  t.notMatch(workerAlias(name), /rack|4711/)
})

test('a worker that was named otherwise has an alias that stays, and is its own', async (t) => {
  t.match(workerAlias('rack-7'), /^worker-[0-9a-f]{12}$/)
  t.equal(workerAlias('rack-7'), workerAlias('rack-7'))
  t.not(workerAlias('rack-7'), workerAlias('rack-8'))
})
