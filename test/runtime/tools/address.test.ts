import t from 'tap'
import { isPublicAddress } from '../../../runtime/tools/address.ts'

t.test('only the public internet is public', async (t) => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1']) {
    t.ok(isPublicAddress(address), address)
  }
  const others = [
    '127.0.0.1 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 255.255.255.255',
    '224.0.0.1 240.0.0.1 198.18.0.1 192.0.2.1 ::1 :: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1',
    '::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 2002:7f00:1:: 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1',
    'localhost 0x7f000001 2130706433 127.1',
  ]
  for (const address of others.join(' ').split(' ')) t.notOk(isPublicAddress(address), address)
})
