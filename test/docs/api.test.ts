import t from 'tap'
import { startTestApi } from '../support/api.ts'
import { runExamples, shellExamples, withoutCurl } from '../support/shell-examples.ts'

t.test(
  'the examples of docs/api.md run as they are written, one after the other',
  { timeout: 120_000, skip: withoutCurl },
  async (t) => {
    const api = await startTestApi(t)
    const blocks = shellExamples('api.md')
    t.ok(blocks.length >= 5, `${blocks.length} examples`)
    t.match(blocks[0], 'base=http://localhost:8080')
    const { code, printed, complaints } = await runExamples(t, blocks, api.url)
    t.equal(code, 0, complaints)
    const [signedIn = '', agents = '', ofWorkspace = '', once = '', page = '', session = ''] = printed
    t.match(signedIn, '"email":"ada@example.com"')
    t.match(agents, '[]')
    t.match(ofWorkspace, '[]')
    const [first = '', second = ''] = once.trim().split('\n')
    t.match(JSON.parse(first), { direction: 'outbound', to_number: '+14155550199' })
    t.equal(second, first, 'the second answer is the first')
    t.match(JSON.parse(page), { items: [], total: 0, page: 2, page_size: 50, total_pages: 0 })
    t.match(JSON.parse(session), { realtime_url: /^ws:/, call_log_id: /^[0-9a-f-]{36}$/ })
  },
)
