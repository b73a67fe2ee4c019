import t from 'tap'
import { startTestApi } from '../support/api.ts'
import { runExamples, shellExamples, withoutCurl } from '../support/shell-examples.ts'

t.test(
  'the examples of docs/campaigns.md run as they are written',
  { timeout: 120_000, skip: withoutCurl },
  async (t) => {
    const api = await startTestApi(t)
    const { code, printed, complaints } = await runExamples(t, shellExamples('campaigns.md'), api.url)
    t.equal(code, 0, complaints)
    const [, made = '', looked = ''] = printed
    t.match(made, /"slug":"renewals"/)
    t.match(made, /Loading 3 rows in 1 batch/)
    t.match(looked, /"status":"(Stopped|Completed|Running)"/)
  },
)
