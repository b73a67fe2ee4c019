import t from 'tap'
import { fencesOf, runPages, withoutCurl } from '../../support/browser/page.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { startTestJobs } from '../../support/instance/jobs.ts'

const options = { timeout: 600_000, skip: withoutCurl }

t.test('the examples of the README and of the pages that go on from it run as printed', options, async (t) => {
  const api = await startTestApi(t, { env: { PATCHBAY_TOOLS_ALLOW_NET: 'localhost:8765' } })
  await startTestJobs(t, api)
  // Without a voice worker: a batch whose rows wait for one is still running when it is paused.
  const pages = [
    'README',
    'docs/batches',
    'docs/campaigns',
    'docs/events',
    'docs/agents/hand-off',
    'docs/agents/versions',
    'docs/agents/collecting',
    'docs/agents/guardrails',
    'docs/knowledge',
    'docs/tools',
    'docs/telephony',
    'docs/operations',
    'docs/web',
  ]
  const printed = await runPages(
    t,
    api.url,
    [...pages, 'docs/realtime'].map((page) => `${page}.md`),
    {
      leaveOut: /twilio/,
    },
  )

  const [session = ''] = printed('README.md')
  t.match(session, '"email":"ada@example.com"')
  t.match(session, /"realtime_url":"ws:/)
  const [batch = '', ofRows = '', acted = ''] = printed('docs/batches.md')
  t.match(batch, /"phone_number":"\+14155559903".*"first_name" ?: ?"Ada"/)
  t.match(batch, /"status":"running"/)
  t.match(ofRows, /"status":"pending".*"total":1/)
  t.match(acted, /"status":"paused".*"status":"running".*"status":"canceled"/s)
  const [, campaign = '', looked = ''] = printed('docs/campaigns.md')
  t.match(campaign, /"slug":"renewals"/)
  t.match(campaign, /Loading 3 rows in 1 batch/)
  t.match(looked, /"status":"(Stopped|Completed|Running)"/)
  const [happened = '', stream = '', listening = '', analysed = '', webhook = ''] = printed('docs/events.md')
  t.match(happened, /"items":\[/)
  t.type(stream, 'string')
  t.match(listening, /"url":"ws:.*\/listen\?token=/)
  t.match(analysed, /"success":"The appointment was moved"/)
  t.match(webhook, /"secret":"whsec_/)
  const [found = '', answered = ''] = printed('docs/knowledge.md')
  t.match(found, /within 45 days/)
  t.match(answered, /45 days/)
  const [tools = '', demo = '', called = ''] = printed('docs/tools.md')
  t.match(demo, /"response":"On \w+, [^"]* there are free rooms: \d single and \d double\."/)
  t.match(called, /"response":"[^"]*order id[^"]*".*"response":"Status: on its way, arrives: Monday\."/s)
  t.match(tools, /\*{8}.*"name":"order_status".*"name":"to_support".*"name":"end_call"/)
  const [handsOff = ''] = printed('docs/agents/hand-off.md')
  t.match(handsOff, /"response":"One moment, I connect you with billing.*"response":"Bills are due within 30 days/s)
  const [versions = '', rollout = ''] = printed('docs/agents/versions.md')
  t.match(versions, /"field":"system_prompt","from":"We open at ten\.","to":"We open at nine\."/)
  t.match(versions, /"version":2,"live":true,"note":"Later in winter".*"total":2/s)
  t.match(rollout, /"status":"running".*"detail":"Rollout ended"/s)
  const [collects = ''] = printed('docs/agents/collecting.md')
  t.match(
    collects,
    /"collect":\[\{"name":"phone","type":"phone"\}.*"secrets":\["card"\]|"secrets":\["card"\].*"collect":/,
  )
  const [guarded = ''] = printed('docs/agents/guardrails.md')
  t.match(guarded, /"grounded":\["money","date","url"\]/)
  const telephony = printed('docs/telephony.md').join('')
  t.match(telephony, /"phone_number":"\+14155550101".*"provider":"sip"/)
  t.match(telephony, /"name":"main","host":"sip.example.com"/)
  t.match(telephony, /"name":"204"/)
  t.match(printed('docs/operations.md')[0], /"kind":"region","key":"\+49","pool":"eu"/)
  t.match(printed('docs/web.md')[0], /"origins":\["https:\/\/shop.example.com"\]/)
  t.match(printed('docs/realtime.md')[0], /"realtime_url":"ws:/)
})

t.test('the examples of docs/api.md run as printed', options, async (t) => {
  const api = await startTestApi(t)
  const printed = await runPages(t, api.url, ['docs/api.md'])
  const [signedIn = '', agents = '', ofWorkspace = '', once = '', changed = '', page = '', session = ''] =
    printed('docs/api.md')
  t.match(signedIn, '"email":"ada@example.com"')
  t.match(agents, '[]')
  t.match(ofWorkspace, '[]')
  const [first = '', second = ''] = once.trim().split('\n')
  t.match(JSON.parse(first), { direction: 'outbound', to_number: '+14155550199' })
  t.equal(second, first, 'the second answer is the first')
  t.match(JSON.parse(changed), { temperature: 0.2 }, 'If-Match named what was read')
  t.match(JSON.parse(page), { items: [], total: 0, page: 2, page_size: 50, total_pages: 0 })
  t.match(JSON.parse(session), { realtime_url: /^ws:/, call_log_id: /^[0-9a-f-]{36}$/ })
})

t.test('the agents of docs/providers.md and docs/resilience.md can be made where the keys are', options, async (t) => {
  const api = await startTestApi(t, { env: { OPENAI_API_KEY: 'sk-of-a-test', DEEPGRAM_API_KEY: 'of-a-test' } })
  const printed = await runPages(t, api.url, ['README.md', 'docs/providers.md'])
  t.match(printed('docs/providers.md')[0], /"agent_name":"Front desk".*"LLM_provider":"openai"/)

  const [fields = ''] = fencesOf('docs/resilience.md', 'json')
  const { client } = await api.signUp('Bob')
  const body = { agent_name: 'Front desk', system_prompt: 'You answer the phone.', ...JSON.parse(fields) }
  t.match(await client.post('/agents', { body }), { status: 201, body: JSON.parse(fields) })
})
