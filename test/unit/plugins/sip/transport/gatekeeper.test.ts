import type { networkInterfaces } from 'node:os'
import { pino } from 'pino'
import t from 'tap'
import { answerChallenge, chooseChallenge } from '../../../../../plugins/sip/message/digest.ts'
import { headersOf, type SipRequest } from '../../../../../plugins/sip/message/message.ts'
import { parseMessage } from '../../../../../plugins/sip/message/parser.ts'
import { Challenger } from '../../../../../plugins/sip/transaction/challenger.ts'
import { Gatekeeper } from '../../../../../plugins/sip/transport/gatekeeper.ts'
import { localAddressFor } from '../../../../../plugins/sip/transport/local-address.ts'
import { FakeTimers } from '../../../../system/plugins/sip/support/fake-timers.ts'

const log = pino({ level: 'silent' })

t.test('who no trunk knows is not read, unless a trunk takes strangers by password, and then slowly', async (t) => {
  const clock = new FakeTimers()
  let strangers = false
  const gatekeeper = new Gatekeeper({
    clock,
    log,
    trunkAt: (address) => (address === '192.0.2.1' ? 'carrier' : undefined),
    takesStrangers: () => strangers,
  })
  t.ok(gatekeeper.admits('192.0.2.1'))
  t.notOk(gatekeeper.admits('203.0.113.9'))
  strangers = true
  const admitted = Array.from({ length: 100 }, () => gatekeeper.admits('203.0.113.9')).filter(Boolean).length
  t.equal(admitted, 20)
  t.equal(Array.from({ length: 3_000 }, () => gatekeeper.admits('192.0.2.1')).filter(Boolean).length, 3_000)
  t.same(
    [...gatekeeper.refusals],
    [
      ['unknown_source', 1],
      ['rate_limited', 80],
    ],
  )
})

t.test('whoever proved who they are may say as much as a known peer; one who guesses is heard no more', async (t) => {
  const clock = new FakeTimers()
  const gatekeeper = new Gatekeeper({ ...{ clock, log }, trunkAt: () => undefined, takesStrangers: () => true })
  const take = (address: string, times: number) =>
    Array.from({ length: times }, () => gatekeeper.admits(address)).filter(Boolean).length
  gatekeeper.proved('203.0.113.1', 'ada')
  t.equal(take('203.0.113.1', 1_000), 1_000)
  clock.advance(3_600_000)
  t.equal(take('203.0.113.1', 100), 20, 'for an hour')
  for (let i = 0; i < 10; i++) gatekeeper.guessed('203.0.113.2', 'ada')
  t.equal(take('203.0.113.2', 10), 0)
  t.equal(gatekeeper.refusals.get('locked_out'), 10)
  clock.advance(60_001)
  t.equal(take('203.0.113.2', 10), 10, 'a minute later it may try again')
  for (let i = 0; i < 10; i++) gatekeeper.guessed('203.0.113.2', 'ada')
  clock.advance(60_001)
  t.equal(take('203.0.113.2', 10), 0, 'but the second time it waits longer')
})

t.test(
  'a trunk’s list opens the way to that trunk alone: passwords are tried at a stranger’s pace, and locked',
  async (t) => {
    const clock = new FakeTimers()
    const gatekeeper = new Gatekeeper({ ...{ clock, log }, trunkAt: () => 'hostile', takesStrangers: () => true })
    const tries = (address: string, times: number) =>
      Array.from({ length: times }, () => gatekeeper.admits(address) && gatekeeper.admitsProof(address)).filter(Boolean)
        .length
    t.equal(tries('203.0.113.1', 100), 20)
    for (let i = 0; i < 10; i++) gatekeeper.guessed('203.0.113.2', 'ada')
    t.equal(tries('203.0.113.2', 5), 0, 'nothing that needs a password is looked at')
    t.ok(gatekeeper.admits('203.0.113.2'), 'what is the trunk’s own goes on')
    t.equal(gatekeeper.refusals.get('locked_out'), 5)
  },
)

t.test('a right password forgives no guesses at another’s', async (t) => {
  const gatekeeper = new Gatekeeper({
    ...{ clock: new FakeTimers(), log },
    trunkAt: () => undefined,
    takesStrangers: () => true,
  })
  for (let i = 0; i < 5; i++) gatekeeper.guessed('203.0.113.1', 'mine')
  gatekeeper.proved('203.0.113.1', 'mine')
  for (let i = 0; i < 9; i++) gatekeeper.guessed('203.0.113.1', 'ada')
  gatekeeper.proved('203.0.113.1', 'mine')
  t.ok(gatekeeper.admitsProof('203.0.113.1'))
  gatekeeper.guessed('203.0.113.1', 'ada')
  t.notOk(gatekeeper.admitsProof('203.0.113.1'))
})

t.test('a network of IPv6 counts as one, and an address in IPv6 spelling as itself', async (t) => {
  const gatekeeper = new Gatekeeper({
    ...{ clock: new FakeTimers(), log },
    trunkAt: () => undefined,
    takesStrangers: () => true,
  })
  const admitted = Array.from({ length: 100 }, (_, i) => gatekeeper.admits(`2001:db8:1:2::${i.toString(16)}`))
  t.equal(admitted.filter(Boolean).length, 20)
  t.ok(gatekeeper.admits('2001:db8:1:3::1'))
  for (let i = 0; i < 10; i++) gatekeeper.guessed(`2001:db8:1:4::${i}`, 'ada')
  t.notOk(gatekeeper.admits('2001:db8:1:4::ffff'))
  for (let i = 0; i < 10; i++) gatekeeper.guessed('::ffff:203.0.113.7', 'ada')
  t.notOk(gatekeeper.admits('203.0.113.7'))
})

t.test('a flood of made-up addresses is bounded as a whole, and takes no bucket of those who are known', async (t) => {
  const clock = new FakeTimers()
  const gatekeeper = new Gatekeeper({
    ...{ clock, log },
    trunkAt: (address) => (address === '192.0.2.1' ? 'carrier' : undefined),
    takesStrangers: () => true,
  })
  const take = (address: string, times: number) =>
    Array.from({ length: times }, () => gatekeeper.admits(address)).filter(Boolean).length
  t.equal(take('192.0.2.1', 4_500), 4_000)
  let admitted = 0
  for (let i = 0; i < 12_000; i++) admitted += take(`10.0.${i >> 8}.${i & 255}`, 1)
  t.equal(admitted, 400)
  t.equal(take('192.0.2.1', 10), 0)
  clock.advance(1_000)
  t.equal(take('203.0.113.7', 10) + take('203.0.113.8', 10), 20)
  t.equal(take('192.0.2.1', 3_000), 2_000)
})

t.test('the log tells of a refusal once a minute and address, and of a flood in a few lines', async (t) => {
  const clock = new FakeTimers()
  const lines: string[] = []
  const told = { warn: (_more: object, text: string) => lines.push(text) } as unknown as typeof log
  const gatekeeper = new Gatekeeper({ clock, log: told, trunkAt: () => undefined, takesStrangers: () => false })
  for (let i = 0; i < 3; i++) gatekeeper.admits('203.0.113.9')
  t.equal(lines.length, 1)
  for (let i = 0; i < 5_000; i++) gatekeeper.admits(`10.0.${i >> 8}.${i & 255}`)
  t.equal(lines.length, 51)
  t.match(lines.at(-1), /the counters include all/)
  t.equal(gatekeeper.refusals.get('unknown_source'), 5_003)
  clock.advance(61_000)
  gatekeeper.admits('203.0.113.9')
  t.equal(lines.length, 52)
})

t.test('scanners are known by their names', async (t) => {
  const gatekeeper = new Gatekeeper({
    clock: new FakeTimers(),
    log,
    trunkAt: () => 'carrier',
    takesStrangers: () => false,
  })
  for (const name of ['friendly-scanner', 'sipcli/v1.8', 'SIPVicious']) t.ok(gatekeeper.isScanner(name, '192.0.2.1'))
  t.notOk(gatekeeper.isScanner('Linphone/5.0', '192.0.2.1'))
  t.notOk(gatekeeper.isScanner(undefined, '192.0.2.1'))
  t.equal(gatekeeper.refusals.get('scanner'), 3)
})

t.test('a password proves a caller once; an old challenge is stale, a wrong password wrong', async (t) => {
  const clock = new FakeTimers()
  const challenger = new Challenger(clock)
  const invite = (authorization?: string): SipRequest =>
    parseMessage(
      Buffer.from(
        [
          'INVITE sip:1@b SIP/2.0',
          'Via: SIP/2.0/UDP a;branch=z9hG4bK1',
          'From: <sip:a@a>;tag=1',
          'To: <sip:1@b>',
          'Call-ID: 1',
          'CSeq: 1 INVITE',
          ...(authorization === undefined ? [] : [`Authorization: ${authorization}`]),
          '',
          '',
        ].join('\r\n'),
      ),
    ) as SipRequest
  const passwords = (username: string) => (username === 'aurora' ? ['other', 'secret'] : [])
  const prove = (password: string) => {
    const challenge = chooseChallenge(headersOf({ headers: challenger.challenge(false) }, 'www-authenticate'))
    const asked = { method: 'INVITE', uri: 'sip:1@b', body: new Uint8Array() }
    return answerChallenge(challenge!, { username: 'aurora', password }, asked, 'c', 1)
  }
  t.same(challenger.check(invite(), passwords), { verdict: 'missing' })
  const right = prove('secret')
  t.same(challenger.check(invite(right), passwords), { verdict: 'proven', username: 'aurora', index: 1 })
  t.same(challenger.check(invite(right), passwords), { verdict: 'stale' }, 'a replay proves nothing')
  t.same(challenger.check(invite(prove('guess')), passwords), { verdict: 'wrong', username: 'aurora' })
  const old = prove('secret')
  clock.advance(61_000)
  t.same(challenger.check(invite(old), passwords), { verdict: 'stale' })
})

t.test('a peer is told the address it can reach', async (t) => {
  const eth0 = [{ address: '10.1.2.3', cidr: '10.1.2.3/24', family: 'IPv4', internal: false }]
  const lo = [{ address: '127.0.0.1', cidr: '127.0.0.1/8', family: 'IPv4', internal: true }]
  const interfaces = { lo, eth0 } as unknown as ReturnType<typeof networkInterfaces>
  const all = { bound: '0.0.0.0', publicAddress: undefined }
  t.equal(
    localAddressFor('127.0.0.1', all, () => interfaces),
    '127.0.0.1',
  )
  t.equal(
    localAddressFor('10.1.2.99', all, () => interfaces),
    '10.1.2.3',
  )
  t.equal(
    localAddressFor('203.0.113.5', all, () => interfaces),
    '10.1.2.3',
  )
  const natted = { bound: '0.0.0.0', publicAddress: '198.51.100.7' }
  t.equal(
    localAddressFor('203.0.113.5', natted, () => interfaces),
    '198.51.100.7',
  )
  t.equal(
    localAddressFor('10.1.2.99', natted, () => interfaces),
    '10.1.2.3',
  )
})

t.test('a long message counts as several', async (t) => {
  const clock = new FakeTimers()
  const gatekeeper = new Gatekeeper({ clock, log, trunkAt: () => 'carrier', takesStrangers: () => false })
  const admitted = (times: number, bytes: number): number =>
    Array.from({ length: times }, () => gatekeeper.admits('192.0.2.1', bytes)).filter(Boolean).length
  t.equal(admitted(1_000, 61_440), 266, 'of 60 KiB only a fifteenth of what short ones may be')
  clock.advance(10_000)
  t.equal(admitted(3_000, 1_400), 3_000)
})
