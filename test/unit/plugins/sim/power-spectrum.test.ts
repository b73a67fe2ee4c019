import t from 'tap'
import { PowerSpectrum } from '../../../../plugins/sim/power-spectrum.ts'
import { seeded } from '../../../support/phone/numbers.ts'

/** By the definition of the transform. */
function powerOf(input: Float32Array, size: number, k: number): number {
  let re = 0
  let im = 0
  for (const [n, sample] of input.entries()) {
    re += sample * Math.cos((2 * Math.PI * k * n) / size)
    im -= sample * Math.sin((2 * Math.PI * k * n) / size)
  }
  return re * re + im * im
}

t.test('the power of each bin is what the definition says, of windows of any length', async (t) => {
  const random = seeded(3)
  for (const [size, length] of [
    [4, 4],
    [256, 256],
    [512, 512],
    [512, 333],
    [1024, 706],
  ] as const) {
    const input = Float32Array.from({ length }, () => random() * 2 - 1)
    const power = new Float32Array(size / 2)
    const spectrum = new PowerSpectrum(size)
    spectrum.compute(input, power)
    const worst = Math.max(...[...power.keys()].map((k) => Math.abs(power[k]! - powerOf(input, size, k))))
    t.ok(worst < length * 1e-4, `${length} of ${size}: ${worst}`)
    const again = new Float32Array(size / 2)
    spectrum.compute(input, again)
    t.same(again, power, 'nothing is left of the window before')
  }
})
