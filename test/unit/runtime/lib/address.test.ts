import t from 'tap'
import { INTERNAL_RANGES, isPublicAddress } from '../../../../runtime/lib/address.ts'

t.test('only the public internet is public', async (t) => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']) {
    t.ok(isPublicAddress(address), address)
  }
  const others = [
    '127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 255.255.255.255',
    '224.0.0.1 240.0.0.1 198.18.0.1 192.0.2.1 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1',
    '::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1',
    '168.63.129.16 64:ff9b::a83f:8110 ::ffff:168.63.129.16',
    'localhost 0x7f000001 2130706433 127.1',
  ]
  for (const address of others.join(' ').split(' ')) t.notOk(isPublicAddress(address), address)
})

/**
 * IANA IPv4 and IPv6 Special-Purpose Address Registries: block, its first and last address, "Globally Reachable". What is
 * reachable inside of a block that is not (192.0.0.9, 2001:20::/28 and the like) is left out with it.
 */
const REGISTRY: readonly (readonly [block: string, first: string, last: string, reachable: boolean])[] = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', false],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', false],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', false],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', false],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', false],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', false],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', false],
  ['192.0.0.0/29', '192.0.0.0', '192.0.0.7', false],
  ['192.0.0.170/32', '192.0.0.170', '192.0.0.171', false],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', false],
  ['192.31.196.0/24', '192.31.196.0', '192.31.196.255', true],
  ['192.52.193.0/24', '192.52.193.0', '192.52.193.255', true],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', false],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', false],
  ['192.175.48.0/24', '192.175.48.0', '192.175.48.255', true],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', false],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', false],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', false],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', false],
  ['::1/128', '::1', '::1', false],
  ['::/128', '::', '::', false],
  ['::ffff:0:0/96', '::ffff:0:0', '::ffff:255.255.255.255', false],
  // Reachable as far as the IPv4 address in it is; here none of them is.
  ['64:ff9b::/96', '64:ff9b::', '64:ff9b::255.255.255.255', false],
  ['64:ff9b:1::/48', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', false],
  ['100::/64', '100::', '100::ffff:ffff:ffff:ffff', false],
  ['100:0:0:1::/64', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff', false],
  ['2001::/23', '2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['2001::/32', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['2001:2::/48', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', false],
  ['2001:10::/28', '2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['2002::/16', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['2620:4f:8000::/48', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff', true],
  ['3fff::/20', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['5f00::/16', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['fc00::/7', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  ['fe80::/10', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false],
  // Multicast has registries of its own.
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', false],
  ['ff00::/8', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', false],
]

t.test('each block of the IANA registries is public as it is globally reachable', async (t) => {
  for (const [block, first, last, reachable] of REGISTRY) {
    t.equal(isPublicAddress(first), reachable, `${block}: ${first}`)
    t.equal(isPublicAddress(last), reachable, `${block}: ${last}`)
  }
  const beside = '1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0'
  const more = '191.255.255.255 192.0.1.0 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 2001:200:: 2003::'
  for (const address of `${beside} ${more} 168.63.129.15 168.63.129.17`.split(' '))
    t.ok(isPublicAddress(address), address)
  t.ok(INTERNAL_RANGES.every((range) => !isPublicAddress(range.split('/')[0]!)))
})
