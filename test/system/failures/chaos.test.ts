import t from 'tap'
import { runChaos } from '../../../scripts/chaos/run-chaos.ts'
import { testFolder } from '../../support/instance/services.ts'

/** `CHAOS_FAULTS` and `CHAOS_SEED` widen the run. */
const FAULTS = Number(process.env.CHAOS_FAULTS ?? 6)
const SEED = Number(process.env.CHAOS_SEED ?? 4)
/** Other tests run beside it; `npm run chaos` measures. */
const SLACK = 4
const LIMIT_MS = 840_000

t.test(
  'under random faults of the stores no call ends or is recorded wrongly, and a campaign calls nobody twice',
  { timeout: LIMIT_MS },
  async (t) => {
    const say = (line: string) => t.comment(line)
    const folder = await testFolder(t)
    t.same(await runChaos({ folder, seed: SEED, calls: 6, minutes: 10, faults: FAULTS, slack: SLACK, say }), [])
  },
)
