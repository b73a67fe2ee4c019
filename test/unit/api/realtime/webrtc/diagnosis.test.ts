import t from 'tap'
import { diagnoseWebRtc } from '../../../../../api/realtime/webrtc/diagnosis.ts'

const open = { state: 'open', sentence: 'Web calls use WebRTC over port 10080 (UDP and TCP)' } as const
const server = { port: 10_080, addresses: ['203.0.113.9', '10.1.2.3', '127.0.0.1'], restarts: 0, workerPid: 7 }
const textOf = (findings: { text: string }[]) => findings.map(({ text }) => text).join('\n')

t.test('where WebRTC is open, its port, its addresses and its worker are named', async (t) => {
  const findings = diagnoseWebRtc({ standing: open, server, sessions: 2 })
  t.ok(findings.every(({ ok }) => ok))
  t.equal(
    textOf(findings),
    `Web calls use WebRTC over port 10080 (UDP and TCP)
Browsers need port 10080, UDP and TCP, of this node: let it through the firewall
Browsers are told 203.0.113.9, 10.1.2.3, 127.0.0.1
The media worker (process 7) carries 2 calls and has not died yet`,
  )
})

t.test('addresses that nobody elsewhere reaches are told with their cure', async (t) => {
  for (const address of ['10.0.0.1', '172.16.3.4', '172.31.0.1', '192.168.1.1', '169.254.1.1']) {
    const findings = diagnoseWebRtc({
      standing: open,
      server: { ...server, addresses: [address, '127.0.0.1'] },
      sessions: 0,
    })
    t.match(textOf(findings), 'set PATCHBAY_WEBRTC_PUBLIC_ADDRESS', address)
  }
  const findings = diagnoseWebRtc({ standing: open, server: { ...server, addresses: ['172.32.0.1'] }, sessions: 0 })
  t.notMatch(textOf(findings), 'PATCHBAY_WEBRTC_PUBLIC_ADDRESS')
})

t.test('a worker that died is told of; one that can’t be had is a fault, one that is not wanted none', async (t) => {
  t.match(textOf(diagnoseWebRtc({ standing: open, server: { ...server, restarts: 3 }, sessions: 0 })), 'died 3 times')
  const without = (state: 'off' | 'building' | 'unavailable') =>
    diagnoseWebRtc({ standing: { state, sentence: state }, server: undefined, sessions: 0 })
  t.same(without('unavailable'), [{ ok: false, text: 'unavailable' }])
  t.same(without('building'), [{ ok: true, text: 'building' }])
  t.same(without('off'), [{ ok: true, text: 'off' }])
})
