import t from 'tap'
import { startTestApi } from '../../../support/instance/api.ts'
import { RealtimeClient } from '../../../support/instance/realtime-node.ts'
import { linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../support/phone/scripted-conversation.ts'

const SESSIONS = 20
const WORKERS = 4

t.test(
  'sessions over two nodes spread over two fresh, one restarted and one added worker: none holds more than one above its share',
  async (t) => {
    const env = { PATCHBAY_WEB_SESSIONS_PER_WORKSPACE: '100', PATCHBAY_QUEUE_WAIT_MS: '30000' }
    const api = await startTestApi(t, { env, nodes: 2 })
    const user = await api.signUp()
    const { agentId } = await startPhone(api, user)
    const served = new Map<string, number>()
    const link = (name: string) =>
      linkWorker(t, api, {
        capacity: 10,
        openConversation: (open, port) => {
          served.set(name, (served.get(name) ?? 0) + 1)
          return scriptedConversation(open, port)
        },
      })
    const open = async (node: string): Promise<RealtimeClient> => {
      const { body } = await user.client.get('/calls/generate-token', { query: { agent_id: agentId } })
      const client = new RealtimeClient({ url: node.replace(/^http/, 'ws') }, body.token)
      t.teardown(() => client.socket.terminate())
      await client.got('session.started')
      return client
    }
    const openMany = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, n) => open(api.nodes[n % api.nodes.length]!)))
    const end = async (clients: readonly RealtimeClient[]): Promise<void> => {
      for (const client of clients) client.send({ type: 'end' })
      for (const client of clients) await client.closed()
    }

    const links = new Map<string, Awaited<ReturnType<typeof link>>>()
    for (const name of ['fresh a', 'fresh b', 'restarted']) links.set(name, await link(name))
    await end(await openMany(9))
    t.same([...served.values()], [3, 3, 3], 'each served as many before')

    await links.get('restarted')?.stop(0)
    served.clear()
    await link('restarted')
    await link('added')
    const clients = await openMany(SESSIONS)
    t.equal(served.size, WORKERS, [...served].join('; '))
    for (const [name, sessions] of served)
      t.ok(sessions <= SESSIONS / WORKERS + 1, `${name} holds ${sessions} of ${SESSIONS} sessions`)
    await end(clients)
  },
)
