import t from 'tap'
import { freePort, sipp, skipWithout } from '../../../support/sip/sip-peers.ts'
import { startSipApi } from '../../../support/sip/sip-phone.ts'

t.test('what a carrier refuses is counted on the admin port', { skip: skipWithout('sipp') }, async (t) => {
  const adminPort = await freePort()
  const { sipPort } = await startSipApi(t, { env: { PATCHBAY_ADMIN_PORT: String(adminPort) } })
  await sipp(t, 'inbound/unknown-number', sipPort, '+14155559999')
  const metrics = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
  t.match(metrics, /patchbay_carrier_refusals_total\{provider="sip",reason="unknown_number"\} 1/)
  t.match(metrics, /patchbay_refused_calls_total\{provider="sip",reason="unknown_number"\} 1/)
  const findings = await (await fetch(`http://127.0.0.1:${adminPort}/doctor/sip`)).json()
  t.match(findings, [{ ok: true, text: `SIP listens on port ${sipPort}` }])
})
