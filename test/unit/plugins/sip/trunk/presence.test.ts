import t from 'tap'
import { accountUri, targetUri } from '../../../../../plugins/sip/trunk/presence.ts'
import type { Trunk } from '../../../../../runtime/plugin-sdk/telephony/trunk.ts'

const trunkOf = (username: string) =>
  ({ username, settings: { tech_prefix: null, from_domain: null } }) as unknown as Trunk

t.test('a user of any characters becomes part of a URI', async (t) => {
  t.match(accountUri(trunkOf('büro#1'), 'sip.example.com'), /^sip:b%C3%BCro%231@/)
  t.match(accountUri(trunkOf('desk-😀'), 'sip.example.com'), /^sip:desk-%F0%9F%98%80@/)
  t.match(accountUri(trunkOf('half-\ud83d'), 'sip.example.com'), /^sip:half-%EF%BF%BD@/)
  t.equal(targetUri(trunkOf('x'), 'sip.example.com', '😀'), 'sip:%F0%9F%98%80@sip.example.com')
})
