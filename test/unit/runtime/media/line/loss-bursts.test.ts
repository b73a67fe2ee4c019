import t from 'tap'
import { LossBursts } from '../../../../../runtime/media/line/loss-bursts.ts'

/** `.` was heard, `x` was not. */
function figuresOf(stream: string) {
  const bursts = new LossBursts()
  for (const packet of stream) bursts.push(packet === '.')
  return bursts.figures
}
const heard = (count: number) => '.'.repeat(count)

t.test('a stream without loss has no figures', async (t) => {
  t.equal(figuresOf(heard(100)), undefined)
})

t.test('a lone loss lies in a gap', async (t) => {
  t.strictSame(figuresOf(`${heard(50)}x${heard(49)}`), {
    burstDensity: 0,
    burstLength: 0,
    gapDensity: 0.01,
    gapLength: 100,
  })
})

t.test('losses with fewer than sixteen heard packets between them are one burst', async (t) => {
  t.match(figuresOf(`${heard(40)}x${heard(15)}x${heard(40)}`), { burstDensity: 2 / 17, burstLength: 17, gapDensity: 0 })
  t.match(figuresOf(`${heard(40)}x${heard(16)}x${heard(40)}`), { burstDensity: 0, burstLength: 0, gapDensity: 2 / 98 })
})

t.test('bursts are averaged, and what lies between them is gaps', async (t) => {
  t.match(figuresOf(`xx${heard(98)}xx.x${heard(96)}x`), {
    burstDensity: 5 / 6,
    burstLength: 3,
    gapDensity: 1 / 195,
    gapLength: 195 / 2,
  })
})

t.test('the burst that goes on counts', async (t) => {
  t.match(figuresOf(`${heard(20)}xxxxx`), { burstDensity: 1, burstLength: 5, gapDensity: 0, gapLength: 20 })
})
