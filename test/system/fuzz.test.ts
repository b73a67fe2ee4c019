import t from 'tap'
import { fuzz } from '../fuzz/fuzz.ts'
import { SURFACES } from '../fuzz/surfaces.ts'
import { BUSY_MACHINE } from '../fuzz/watch.ts'

const SECONDS = 60
const SEED = 20_261_126

t.test('a minute of hostile messages at every surface ends, hangs and disturbs nothing', async (t) => {
  const failures = await fuzz({
    surfaces: SURFACES,
    seed: SEED,
    seconds: SECONDS / SURFACES.length,
    limits: BUSY_MACHINE,
    memory: false,
    say: (line) => t.comment(line),
  })
  t.same(failures, [])
})
