import { hostname } from 'node:os'
import t from 'tap'
import { clientAddress, isOwnHost, plainAddress, trustedProxies } from '../../../../runtime/lib/client-address.ts'

t.test('an address has one spelling', async (t) => {
  for (const [text, plain] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['0000:0000:0000:0000:0000:ffff:7f00:0001', '127.0.0.1'],
    ['2001:0db8:0000:0000:0000:0000:0000:0001', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['nonsense', 'nonsense'],
  ] as const)
    t.equal(plainAddress(text), plain)
})

t.test('X-Forwarded-For counts as far as trusted proxies wrote it', async (t) => {
  const isTrusted = trustedProxies(['10.0.0.0/8', '2001:db8::/32'])
  for (const [peer, header, client] of [
    ['198.51.100.7', '', '198.51.100.7'],
    ['198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['10.1.2.3', 'spoofed, 203.0.113.9, 10.9.9.9', '203.0.113.9'],
    ['10.1.2.3', '192.0.2.66, 203.0.113.9', '203.0.113.9'],
    ['127.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['2001:db8::5', '2001:4860::1', '2001:4860::1'],
    ['10.1.2.3', 'garbage', '10.1.2.3'],
    ['10.1.2.3', '', '10.1.2.3'],
  ] as const)
    t.equal(clientAddress(peer, header, isTrusted), client, `${peer} ${header}`)
  t.throws(() => trustedProxies(['proxy.example']), /is no address/)
  t.throws(() => trustedProxies(['10.0.0.0/33']), /is no address/)
})

t.test('a Host header names this machine or it does not', async (t) => {
  const own = [
    'localhost',
    'LocalHost:8080',
    'app.localhost:80',
    '127.0.0.1:8080',
    '127.9.9.9',
    '[::1]:8080',
    '0.0.0.0:80',
    hostname(),
  ]
  for (const host of own) t.ok(isOwnHost(host), host)
  const others = [
    '',
    'rebound.example',
    'localhost.example:80',
    '203.0.113.9:8080',
    '[2001:db8::1]:80',
    '127.0.0.1.nip.example',
  ]
  for (const host of others) t.notOk(isOwnHost(host), host)
})
