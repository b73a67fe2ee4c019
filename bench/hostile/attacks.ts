import { setTimeout as sleep } from 'node:timers/promises'
import type { Tenant } from './tenant.ts'

/** What a tenant can ask for that costs more than it looks. */

const ROWS = 1_000_000
const SESSIONS = 1_000
const SESSIONS_AT_ONCE = 50
const LOGINS_AT_ONCE = 24

/** Runs all of them again and again until the signal aborts; resolves with how often each was done. */
export async function attacks(tenant: Tenant, signal: AbortSignal): Promise<Record<string, number>> {
  const done: Record<string, number> = {}
  const again = async (name: string, act: () => Promise<unknown>) => {
    done[name] = 0
    while (!signal.aborted) {
      await act().then(
        () => done[name]!++,
        () => sleep(100),
      )
    }
  }
  const numbers = Array.from({ length: ROWS }, (_, i) => `+1${2_120_000_000 + i}`).join('\n')
  await tenant.batch(`phone_number\n${numbers}\n`, signal).catch(() => {})
  const slow = await slowAgent(tenant)
  let sessions = 0
  let taught = tenant.agentId
  const fields = { name: 'b', agent_id: tenant.agentId, agent_phone_number: tenant.number }
  const csv = (text: string) => tenant.upload('/batch/upload', fields, [['file', 'a.csv', text]], signal)
  const wide = `phone_number${',x'.repeat(100_000)}\n${'+14155559901\n'.repeat(200)}`
  const wideRows = `phone_number,${Array.from({ length: 999 }, (_, i) => `c${i}`).join(',')}\n${`+14155559901,${'y'.repeat(60_000)}\n`.repeat(100)}`
  const quotes = `phone_number\n${`${'a"'.repeat(30_000)}\n`.repeat(15)}`
  const markdown = Array.from({ length: 20 }, (_, i): [string, string, string] => [
    'files',
    `${i}.md`,
    `# x${'\t'.repeat(8_000)}y\n\n${'[]('.repeat(50_000)}`,
  ])
  const large = {
    agent_phone_number: tenant.number,
    phone_number_to_dial: '+14155559901',
    dynamic_variables: { x: 'y'.repeat(900_000) },
  }
  await Promise.all([
    ...Array.from({ length: SESSIONS_AT_ONCE }, () =>
      again('web sessions', async () => {
        if (++sessions > SESSIONS) return sleep(1_000)
        const socket = await tenant.openSession()
        const leave = () => socket.terminate()
        signal.addEventListener('abort', leave)
        if (signal.aborted) leave()
        await new Promise((resolve) => socket.on('close', resolve).on('error', resolve))
        signal.removeEventListener('abort', leave)
      }),
    ),
    again('wide CSV', () => csv(wide)),
    again('wide rows', async () => {
      const { body } = await csv(wideRows)
      await tenant.get(`/batch/${body.batch_id}/items?page=1&page_size=200`, signal)
      await tenant.get(`/batch/${body.batch_id}/items`, signal)
    }),
    again('quoted CSV', () => csv(quotes)),
    again('markdown', async () => {
      const { status } = await tenant.upload(`/agents/${taught}/upload`, {}, markdown, signal)
      // An agent that takes no more: there are others.
      if (status === 403) taught = await tenant.agent({})
    }),
    again('questions', () => tenant.post(`/agents/${taught}/query`, { query: 'x y' }, signal)),
    again('slow pattern', () => tenant.post('/chats/interaction', { agent_id: slow, message: 'go' }, signal)),
    again('nested body', () =>
      tenant.post(
        '/agents',
        { agent_name: 'x', system_prompt: 'p', extra: JSON.parse('['.repeat(3_000) + ']'.repeat(3_000)) },
        signal,
      ),
    ),
    again('large calls', async () => {
      await tenant.post('/calls/outbound_call', large, signal)
      await tenant.get('/calls/logs?page_size=200', signal)
    }),
    again('trickled upload', () => trickle(tenant, signal)),
    ...Array.from({ length: LOGINS_AT_ONCE }, (_, i) =>
      again('logins', async () => {
        const body = JSON.stringify({ email: `nobody${i}@example.com`, password: 'wrong password' })
        const headers = { 'content-type': 'application/json' }
        await (await fetch(`${tenant.url}/auth/login`, { method: 'POST', headers, body, signal })).text()
      }),
    ),
  ])
  return done
}

/** An agent whose model calls a tool with a pattern that backtracks for hours. */
function slowAgent(tenant: Tenant): Promise<string> {
  const argumentsOfTool = { x: `${'a'.repeat(40)}!` }
  const script = [{ question: 'go', answer: 'done', tool: { name: 't', arguments: argumentsOfTool } }]
  return tenant.agent({
    LLM_provider: 'sim',
    LLM_model: JSON.stringify({ script }),
    tools: [
      {
        type: 'http',
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties: { x: { type: 'string', pattern: '^(a+)+$' } } },
        http: { url: 'https://example.com/' },
      },
    ],
  })
}

/** An upload at the least rate that is allowed. */
async function trickle(tenant: Tenant, signal: AbortSignal): Promise<void> {
  async function* content() {
    while (!signal.aborted) {
      yield Buffer.alloc(8_000, '+14155559901\n')
      await sleep(400)
    }
  }
  await tenant.stream('/batch/upload', content(), signal)
}
