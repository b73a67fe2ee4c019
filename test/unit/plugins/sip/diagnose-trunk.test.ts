import t from 'tap'
import { SipCarrier } from '../../../../plugins/sip/carrier.ts'
import { NO_TRUNKS } from '../../../../runtime/plugin-sdk/telephony/trunk.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

t.test(
  'requests during the examination of a trunk share its answer, and a later one has the trunk examined again',
  async (t) => {
    const env = { get: (name: string) => (name === 'PATCHBAY_SIP_PORT' ? '0' : undefined) }
    const carrier = new SipCarrier(runOnlyHost('sip', { env }), NO_TRUNKS, {})
    t.teardown(() => carrier.close())
    const first = carrier.diagnoseTrunk('a')
    t.equal(carrier.diagnoseTrunk('a'), first)
    t.not(carrier.diagnoseTrunk('b'), first)
    t.match(await first, [{ check: 'listens', ok: false, text: /PATCHBAY_SIP_PORT is 0/ }])
    t.not(carrier.diagnoseTrunk('a'), first)
  },
)
