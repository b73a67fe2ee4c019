import t from 'tap'
import { MediaPorts } from '../../../../../plugins/sip/media/media-ports.ts'
import type { UdpSocket } from '../../../../../runtime/plugin/contract.ts'

const open = async (port: number) => ({ port, close: () => undefined }) as unknown as UdpSocket

t.test('each call gets a pair of its own anywhere in the range, until all are taken', async (t) => {
  const draws = [0.5, 0.5, 0.99, 0, 0.5]
  const ports = new MediaPorts({ first: 16_001, last: 16_011 }, () => draws.shift() ?? 0, open)
  const taken = [await ports.take(), await ports.take(), await ports.take(), await ports.take(), await ports.take()]
  t.same(
    taken.map((pair) => pair?.rtp.port),
    [16_006, 16_008, 16_010, 16_002, 16_004],
  )
  t.equal(await ports.take(), undefined)
  ports.release(taken[1]!)
  t.equal((await ports.take())?.rtp.port, 16_008)
})
