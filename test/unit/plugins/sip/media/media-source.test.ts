import t from 'tap'
import { MediaSource } from '../../../../../plugins/sip/media/media-source.ts'

const NAMED = { address: '192.0.2.1', port: 4_000 }
const STRAY = { address: '192.0.2.1', port: 4_002 }
const NAT = { address: '198.51.100.7', port: 61_000 }
const REBOUND = { address: '198.51.100.7', port: 61_044 }
const STRANGER = { address: '203.0.113.9', port: 4_000 }

const make = () => new MediaSource(NAMED, (address) => address === NAT.address)

t.test('what the description names is believed at once, and one stray packet before it changes nothing', async (t) => {
  const source = make()
  t.equal(source.accept(STRAY, 0), 'waits')
  t.same(source.target, NAMED)
  t.equal(source.accept(NAMED, 20), 'taken')
  t.equal(source.accept(STRAY, 40), 'waits')
  t.same(source.target, NAMED)
})

t.test('a phone behind a router is learnt by several packets in a row', async (t) => {
  const source = make()
  t.same(
    [0, 20].map((ms) => source.accept(NAT, ms)),
    ['waits', 'waits'],
  )
  t.equal(source.accept(STRAY, 30), 'waits', 'and the row begins anew')
  t.same(
    [40, 60, 80].map((ms) => source.accept(NAT, ms)),
    ['waits', 'waits', 'taken'],
  )
  t.same(source.target, NAT)
})

t.test('another port is learnt once the one before is silent, not while it sends', async (t) => {
  const source = make()
  for (const ms of [0, 20, 40]) source.accept(NAT, ms)
  for (let ms = 60; ms < 2_000; ms += 20) {
    source.accept(NAT, ms)
    t.equal(source.accept(REBOUND, ms), 'waits')
  }
  t.same(source.target, NAT)
  for (let ms = 2_000; ms < 2_980; ms += 20) t.equal(source.accept(REBOUND, ms), 'waits')
  for (const ms of [3_000, 3_020, 3_040]) source.accept(REBOUND, ms)
  t.same(source.target, REBOUND)
})

t.test('a stranger is never learnt', async (t) => {
  const source = make()
  for (let ms = 0; ms < 5_000; ms += 20) t.equal(source.accept(STRANGER, ms), 'stranger')
  t.same(source.target, NAMED)
})

t.test('a new description begins anew, the same one changes nothing', async (t) => {
  const source = make()
  for (const ms of [0, 20, 40]) source.accept(NAT, ms)
  source.rename({ ...NAMED })
  t.same(source.target, NAT)
  source.rename({ ...NAMED, port: 5_000 })
  t.same(source.target, { ...NAMED, port: 5_000 })
})

t.test('the place that both sides left takes the media back only after three seconds of it alone', async (t) => {
  const source = make()
  source.accept(NAMED, 0)
  const next = { ...NAMED, port: 5_000 }
  source.rename(next)
  for (let ms = 20; ms < 2_900; ms += 20) t.equal(source.accept(NAMED, ms), 'waits')
  t.same(source.target, next)
  source.accept(next, 2_900)
  t.same(source.target, next)
  for (let ms = 10_000; ms < 13_000; ms += 20) source.accept(NAMED, ms)
  t.same(source.target, NAMED)
})
