import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import boundaries from '../../../scripts/mutants/boundaries.json' with { type: 'json' }
import dialer from '../../../scripts/mutants/dialer.json' with { type: 'json' }
import realtime from '../../../scripts/mutants/realtime.json' with { type: 'json' }

const root = join(import.meta.dirname, '../../..')

t.test('what a mutant breaks is in its file once, and its tests are there', async (t) => {
  for (const { file, tests, rules } of [...boundaries, ...dialer, ...realtime]) {
    const source = readFileSync(join(root, file), 'utf8')
    for (const { broken, from, to } of rules) {
      t.equal(source.split(from).length, 2, `${file}: ${broken}`)
      t.not(from, to)
    }
    for (const test of tests) t.ok(existsSync(join(root, test)), test)
  }
})
