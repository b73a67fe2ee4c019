import t from 'tap'
import { freePort, skipWithout, startSipp } from '../../../../support/sip/sip-peers.ts'
import { startSipApi } from '../../../../support/sip/sip-phone.ts'

const skip = skipWithout('sipp')
t.test('a trunk is registered with, anew before that expires, and left', { skip }, async (t) => {
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
  // Each is asked for the password once: the second pair is the refresh, which the 40 s granted call for.
  await registrar.saw('SIP/2.0 200 OK', 2)
  await user.client.delete(`/trunks/${body.trunk_id}`)
  const { code, errors } = await registrar.done
  t.equal(code, 0, errors)
})
