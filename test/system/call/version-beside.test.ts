import t from 'tap'
import { makeAgent } from '../../../scripts/demo/call.ts'
import { openWebCall, type WebCall } from '../../support/browser/web-call.ts'
import { type ApiNode, type Role, roleWhen, startInstallation } from '../../support/instance/installation.ts'
import type { Within } from '../../support/instance/instance.ts'
import { emptyDatabase } from '../../support/instance/services.ts'
import { checkoutOf, commitAfter, commitBefore } from '../../support/instance/version-before.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

const LIMIT_MS = 900_000
const CALLS_A_NODE = 2
/** What answers is in the process itself, and no matter of this test. */
const AGENT = {
  ...{ agent_name: 'Ava', system_prompt: 'You answer for a shop.', first_message: 'Hi.', LLM_provider: 'sim' },
  ...{ LLM_model: JSON.stringify({ script: [], otherwise: 'Hello.' }), TTS_provider: 'sim', TTS_voice: 'tone' },
}
const [before, after] = [await commitBefore(), await commitAfter()]

interface Call {
  call_log_id: string
  status: string
  end_reason: string | null
}

t.test(
  'the version before and this one run beside each other, forward and back, and no call is lost',
  { timeout: LIMIT_MS, skip: before === undefined && 'needs the history of git' },
  async (t) => {
    const old = await checkoutOf(t, before ?? '')
    const next = after === undefined ? undefined : await checkoutOf(t, after)
    const installation = await startInstallation(t, {
      ...{ calls: 20, limitMs: LIMIT_MS, database: emptyDatabase(t) },
      // Then its calls go to the worker of the other version.
      voiceDrainMs: 500,
      leaveMs: 500,
    })
    const side = async (name: 'a' | 'b', within?: Within): Promise<[ApiNode, Role, Role]> => {
      // The api node migrates; the others find the database as they need it.
      const api = await installation.api(name, within)
      const [voice, jobs] = await Promise.all([installation.voice(within), installation.jobs(within)])
      for (const role of [api, voice, jobs]) await roleWhen(role, 'ready')
      return [api, voice, jobs]
    }
    const oldRoles = await side('a', old)
    const [{ url }] = oldRoles
    const health = async (node: ApiNode) => (await fetch(`${node.url}/health`)).json() as Promise<{ commit?: string }>
    t.equal((await health(oldRoles[0])).commit, before?.slice(0, 12))
    const { rest, agentId } = await makeAgent(url, AGENT)
    const running: { call: WebCall; node: ApiNode }[] = []
    const dial = async (node: ApiNode) => {
      for (let n = 0; n < CALLS_A_NODE; n++) running.push({ call: await openWebCall(rest, agentId, node.url), node })
    }
    const hangUpAt = async (node: ApiNode) => {
      const own = running.filter((one) => one.node === node)
      for (const { call } of own) call.session.send({ type: 'end' })
      for (const { call } of own) t.match(await call.ended, [{ reason: 'caller_hangup' }])
      running.splice(0, running.length, ...running.filter((one) => one.node !== node))
    }
    const calls = async (node: ApiNode): Promise<Call[]> => {
      Object.assign(rest, { url: new URL(node.url).href })
      return (await rest.send<{ items: Call[] }>('GET', '/calls/logs?page_size=100')).items
    }
    const areLive = async (node: ApiNode) =>
      waitUntil(async () => {
        const live = (await calls(node)).filter(({ status }) => status === 'in_progress')
        return live.length === running.length
      })
    /** Takes the place of roles whose calls run, and lets them end. */
    const replace = async ([api, ...others]: [ApiNode, Role, Role], [other]: [ApiNode, Role, Role]) => {
      // Both versions of each role serve both versions of the others.
      await dial(api)
      await dial(other)
      for (const node of [api, other]) await areLive(node)
      for (const role of others) role.child.kill('SIGTERM')
      for (const role of others) t.equal(await role.ended, 0, 'and its calls go on at the other version’s workers')
      for (const node of [api, other]) await areLive(node)
      api.child.kill('SIGTERM')
      await roleWhen(api, 'draining')
      await hangUpAt(api)
      t.equal(await api.ended, 0, 'the node ends with its last call')
      await areLive(other)
    }

    await dial(oldRoles[0])
    const newRoles = await side('b', next)
    t.not((await health(newRoles[0])).commit, before?.slice(0, 12))
    await replace(oldRoles, newRoles)

    const again = await side('a', old)
    await replace(newRoles, again)
    await hangUpAt(again[0])

    await waitUntil(async () => (await calls(again[0])).every(({ status }) => status !== 'in_progress'))
    const ends = (await calls(again[0])).map(({ status, end_reason }) => `${status} ${end_reason}`)
    t.same([...new Set(ends)], ['completed caller_hangup'])
    t.equal(ends.length, 5 * CALLS_A_NODE)
  },
)
