import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { startBrowsers, withoutChromium } from '../../support/browser/console.ts'
import { withoutCurl } from '../../support/browser/page.ts'
import { runProgram } from '../../support/generators/generate.ts'
import { pythonTools } from '../../support/generators/python.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { until } from '../../support/instance/realtime-node.ts'
import { testFolder } from '../../support/instance/services.ts'

/** What libraries of others do by themselves: booleans of a form, empty fields, cookies in jars and by hand. */

const REQUESTS = `
import sys

import requests

address, email, password = sys.argv[1:]
session = requests.Session()
assert session.post(f"{address}/auth/login", json={"email": email, "password": password}).status_code == 200
me = session.get(f"{address}/auth/me")
assert me.json()["email"] == email, me.text
by_hand = {"access_token": session.cookies["access_token"]}
assert requests.get(f"{address}/auth/me", cookies=by_hand).status_code == 200
renewed = requests.post(f"{address}/auth/refresh", cookies={"refresh_token": session.cookies["refresh_token"]})
assert renewed.status_code == 200, renewed.text
assert requests.get(f"{address}/auth/me", cookies=by_hand).status_code == 200, "the earlier token is good until it expires"

agent = session.post(f"{address}/agents", json={"agent_name": "Ada", "system_prompt": "You answer."}).json()
campaign = session.post(f"{address}/api/v/campaign/", json={"name": "March", "agent_id": agent["agent_id"], "active": False}).json()
listed = session.post(f"{address}/api/v/list/", json={"campaign": campaign["slug"], "name": "List"}).json()
rows = {"original_data": ("prospects.csv", b"primary_phone\\n+14155550123\\n", "text/csv")}
upload = session.post(
    f"{address}/api/v/upload/{listed['list_slug']}/", files=rows, data={"dedupe": True, "consent_attested": False, "mapping": ""})
assert upload.status_code in (200, 201), upload.text
prospect = session.post(
    f"{address}/api/v/prospect/{listed['list_uuid']}/", data={"primary_phone": "+14155550124", "first_name": "", "last_name": "Lovelace"})
assert prospect.status_code == 201, prospect.text
assert prospect.json()["last_name"] == "Lovelace", prospect.text
calls = session.get(f"{address}/calls/logs", params={"status": ["queued", "failed"], "page": 1, "agent_id": None})
assert calls.json()["total"] == 0, calls.text
assert session.post(f"{address}/auth/logout").status_code == 200
assert session.get(f"{address}/auth/me").status_code == 401
print("done")
`

const tools = await pythonTools()
const skip = tools.reason === undefined ? {} : { skip: tools.reason }

t.test('Python’s requests signs in with its jar or cookies by hand, and sends forms as it does', skip, async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { email, password } = await api.signUp()
  const folder = await testFolder(t)
  await writeFile(join(folder, 'program.py'), REQUESTS)
  const printed = await runProgram(join(tools.bin ?? '', 'python'), ['program.py', api.url, email, password], folder)
  t.equal(printed.trim(), 'done')
})

t.test('curl signs in with a jar, renews it, and is out after the logout', { skip: withoutCurl }, async (t) => {
  const api = await startTestApi(t, { nodes: 2 })
  const { email, password } = await api.signUp()
  const folder = await testFolder(t)
  const curl = async (path: string, ...more: string[]): Promise<string> => {
    const args = ['-s', '-b', 'jar', '-c', 'jar', '-o', '/dev/null', '-w', '%{http_code}', `${api.url}${path}`]
    return runProgram('curl', [...args, ...more], folder)
  }
  const json = ['-H', 'content-type: application/json', '-d']
  t.equal(await curl('/auth/login', ...json, JSON.stringify({ email, password })), '200')
  t.equal(await curl('/auth/me'), '200')
  t.equal(await curl('/auth/refresh', '-X', 'POST'), '200')
  t.equal(await curl('/agents', ...json, '{"agent_name":"Ada","system_prompt":"You answer."}'), '201')
  t.equal(await curl('/auth/logout', '-X', 'POST'), '200')
  t.equal(await curl('/auth/me'), '401')
})

t.test(
  'Chromium’s jar keeps an expired token, is renewed by its refresh token, and is empty after the logout',
  { skip: withoutChromium },
  async (t) => {
    const api = await startTestApi(t, { nodes: 2, env: { PATCHBAY_ACCESS_TOKEN_TTL_S: '2' } })
    const { email, password } = await api.signUp()
    const { context, page } = await (await startBrowsers(t))(api.url)
    await page.goto(`${api.url}/docs`)
    const ask = (method: string, path: string, body?: object) =>
      page.evaluate(
        async ([method, path, body]) => {
          const headers = { 'content-type': 'application/json' }
          const response = await fetch(path, { method, ...(body !== undefined && { headers, body }) })
          return { status: response.status, detail: ((await response.json()) as { detail: unknown }).detail }
        },
        [method, path, body && JSON.stringify(body)] as const,
      )
    const jar = async () => {
      const cookies = await context.cookies()
      return Object.fromEntries(cookies.map(({ name, value, expires }) => [name, { value, expires }]))
    }
    t.equal((await ask('POST', '/auth/login', { email, password })).status, 200)
    const first = await jar()
    for (const { expires } of Object.values(first)) {
      t.ok(Math.abs(expires - (Date.now() / 1000 + 30 * 86_400)) < 600, 'both cookies are kept for 30 days')
    }
    await until(async () => (await ask('GET', '/auth/me')).status === 401)
    t.match(await ask('GET', '/auth/me'), { status: 401, detail: 'Token expired' }, 'the jar still sends it')
    t.equal((await ask('POST', '/auth/refresh')).status, 200)
    const second = await jar()
    t.not(second.access_token?.value, first.access_token?.value)
    t.equal(second.refresh_token?.value, first.refresh_token?.value)
    await until(async () => {
      await ask('POST', '/auth/refresh')
      return (await ask('GET', '/auth/me')).status === 200
    })
    t.equal((await ask('POST', '/auth/logout')).status, 200)
    t.same(await jar(), {})
    t.match(await ask('GET', '/auth/me'), { status: 401, detail: 'Invalid or missing token' })
  },
)
