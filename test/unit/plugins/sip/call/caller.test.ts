import t from 'tap'
import { callerNumber, callerVariables } from '../../../../../plugins/sip/call/caller.ts'
import { requestOf } from '../../../../system/plugins/sip/support/wire.ts'

const invite = (...headers: string[]) => requestOf('INVITE', { headers })

t.test("the caller's number is the trunk's word before the phone's, whatever the name beside it", async (t) => {
  const number = (...headers: string[]) => callerNumber(invite(...headers), ['US'])
  t.equal(number('P-Asserted-Identity: "Doe, John" <sip:+14155550188@c.example>'), '+14155550188')
  t.equal(number('Remote-Party-ID: "x" <sip:4155550189@c.example>;party=calling'), '+14155550189')
  t.equal(number('From: <sip:204@pbx.example>;tag=1'), '204', 'an extension is somebody, too')
  t.equal(number('From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=1'), undefined)
})

t.test('what an INVITE says of the caller becomes variables, other headers where they are named', async (t) => {
  const request = invite(
    'From: "José" <sip:204@pbx.example>;tag=1',
    'P-Asserted-Identity: <sip:+14155550188@c.example;verstat=TN-Validation-Passed>',
    'Diversion: <sip:+14155550111@c.example>;reason=no-answer',
    'User-to-User: 48656c6c6f;encoding=hex',
    'X-Account: 42',
    'X-Secret: no',
  )
  t.match(callerVariables(request, ['X-Account', 'X-Missing']), {
    sip_from_name: 'José',
    sip_from_user: '+14155550188',
    sip_verstat: 'TN-Validation-Passed',
    sip_diversion: '+14155550111',
    sip_uui: '48656c6c6f;encoding=hex',
    sip_x_account: '42',
  })
  t.notOk('sip_x_secret' in callerVariables(request, ['X-Account']))
  t.notOk('sip_x_missing' in callerVariables(request, ['X-Missing']))
})

t.test('what can not be kept of headers is left out of variables and names', async (t) => {
  // A character a byte, as messages are kept: half of a surrogate pair, as some encode it in UTF-8.
  const half = Buffer.from([0xed, 0xa0, 0xbd]).toString('latin1')
  const request = invite(`X-Account: 42`, `X-Long: ${'😀'.repeat(300)}`)
  const found = callerVariables(
    {
      ...request,
      from: { ...request.from, displayName: `Jo${half}` },
      headers: request.headers.map((one) => (one.name === 'x-account' ? { ...one, value: `4\0${half}2` } : one)),
    },
    ['X-Account', 'X-Long'],
  )
  t.match(found, { sip_from_name: /^Jo\ufffd+$/, sip_x_account: /^4\ufffd+2$/ })
  for (const value of Object.values(found)) t.ok(value.isWellFormed() && value.length <= 512 && !value.includes('\0'))
})

t.test('a caller who withholds the number stays hidden, in the number and in the variables', async (t) => {
  const hidden = [
    ['Privacy: id', 'P-Asserted-Identity: "Doe" <sip:+14155550188@c.example>'],
    ['Privacy: user;critical', 'P-Asserted-Identity: "Doe" <sip:+14155550188@c.example>'],
    ['Remote-Party-ID: "Doe" <sip:+14155550188@c.example>;party=calling;privacy=full'],
  ]
  for (const headers of hidden) {
    const request = invite('From: "Anonymous" <sip:anonymous@anonymous.invalid>;tag=1', ...headers)
    t.equal(callerNumber(request, ['US']), undefined, headers.join())
    const variables = callerVariables(request, ['P-Asserted-Identity', 'Remote-Party-ID'])
    t.ok(variables.sip_privacy, headers.join())
    t.notMatch(JSON.stringify(variables), /4155550188|Doe/, headers.join())
  }
})

t.test('a From that no network hid stays hidden where the caller asks for it', async (t) => {
  for (const wish of ['Privacy: user;id', 'Remote-Party-ID: <sip:+14155550188@c.example>;privacy=full']) {
    const request = invite('From: "Doe" <sip:+14155550188@c.example>;tag=1', 'Contact: <sip:+14155550188@c>', wish)
    t.equal(callerNumber(request, ['US']), undefined, wish)
    t.notMatch(JSON.stringify(callerVariables(request, ['From', 'Contact', 'Call-Info'])), /4155550188|Doe/, wish)
  }
  const shown = invite('From: <sip:+14155550188@c.example>;tag=1', 'Privacy: none')
  t.equal(callerNumber(shown, ['US']), '+14155550188')
})

t.test('parameters of numbers are not spoken', async (t) => {
  const request = invite('From: <sip:+14155550142;cpc=ordinary@c.example>;tag=1')
  t.equal(callerVariables(request, []).sip_from_user, '+14155550142')
})
