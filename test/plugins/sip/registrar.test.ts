import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { freePort, skipWithout, startSipp } from '../../support/sip-peers.ts'
import { startSipApi } from '../../support/sip-phone.ts'

const skip = skipWithout('sipp')
/** The registrar grants 40 s, of which half may pass before we register anew. */
const REFRESHED_AFTER_MS = 20_000

t.test('a trunk is registered with, anew before that expires, and left', { skip, timeout: 60_000 }, async (t) => {
  const { user } = await startSipApi(t)
  const port = await freePort()
  const registrar = await startSipp(t, { scenario: 'registrar', port })
  const { status, body } = await user.client.post('/trunks', {
    body: {
      ...{ name: 'registrar', host: `127.0.0.1:${port}`, register: true, countries: ['US'] },
      ...{ username: 'aurora', password: 'secret' },
    },
  })
  t.equal(status, 201)
  await sleep(REFRESHED_AFTER_MS + 3_000)
  t.equal(registrar.child.exitCode, null, 'the trunk is still registered')
  await user.client.delete(`/trunks/${body.trunk_id}`)
  const { code, errors } = await registrar.done
  t.equal(code, 0, errors)
})
