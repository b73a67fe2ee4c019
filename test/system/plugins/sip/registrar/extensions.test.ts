import t from 'tap'
import { answerChallenge, chooseChallenge } from '../../../../../plugins/sip/message/digest.ts'
import { headersOf } from '../../../../../plugins/sip/message/message.ts'
import type { LinkedConversation, OpenConversation } from '../../../../../runtime/call/link/linked-conversation.ts'
import type { TestUser } from '../../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../../support/phone/scripted-conversation.ts'
import { type Baresip, skipWithout, startBaresip } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'
import { startCaller } from '../support/carrier.ts'

/** Softphones that register with Patchbay: baresip, over real sockets. */

const skip = skipWithout('baresip')
/** Longer than any call lasts: a line on which nothing comes any more is lost. */
const SILENCE = new Int16Array(8_000 * 120)

// biome-ignore lint/suspicious/noExplicitAny: a test reads any field
type Body = any

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await read()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Leads the caller to extension 204 as soon as they are heard. */
const leadsToDesk: OpenConversation = async (open, port) => {
  const scripted = await scriptedConversation(open, port)
  let asked = false
  const conversation: LinkedConversation = {
    audio() {
      if (asked || !open.agent.tools?.some(({ name }) => name === 'to_desk')) return
      asked = true
      const input = { id: 'tool-1', name: 'to_desk', arguments: {} }
      void port.ask('tool', input, AbortSignal.timeout(30_000)).catch(() => undefined)
    },
    input: (event) => scripted.input(event),
    played: (id) => scripted.played(id),
    close: (reason) => scripted.close(reason),
  }
  return conversation
}

t.test('softphones that register', { skip }, async (t) => {
  const sip = await startSipApi(t)
  const { api, user, sipPort } = sip
  await linkWorker(t, api, { openConversation: leadsToDesk })
  const { number, agentId } = await addSipNumber(sip)
  const add = async (of: TestUser, name: string): Promise<Body> => {
    const { status, body } = await of.client.post('/extensions', { body: { name, display_name: `Desk ${name}` } })
    t.equal(status, 201, JSON.stringify(body))
    return body
  }
  const register = (extension: Body, more: { autoAnswer?: boolean } = {}): Promise<Baresip> =>
    startBaresip(t, {
      says: SILENCE,
      autoAnswer: more.autoAnswer ?? false,
      account: {
        username: extension.username,
        password: extension.password,
        server: `127.0.0.1:${sipPort}`,
      },
    })
  const desk = await add(user, '204')
  const hall = await add(user, '205')
  const read = async (of: Body): Promise<Body> => (await user.client.get(`/extensions/${of.extension_id}`)).body

  /** Resolves once as many phones of an extension are registered: what a phone reports at its start may come before it is heard. */
  const registered = (of: Body, phones = 1): Promise<Body> =>
    until(async () => {
      const body = await read(of)
      return body.phones.length === phones ? body : undefined
    })
  /** What a phone reported of this kind. */
  const reports = (of: Baresip, type: string) => of.events.filter((event) => event.type === type)
  /** Has a phone dial, and resolves once it reports this, one time more than before. */
  const dial = async (from: Baresip, dialled: string, type = 'CALL_ESTABLISHED'): Promise<Body> => {
    const before = reports(from, type).length
    from.command('dial', `sip:${dialled}@127.0.0.1:${sipPort}`)
    return until(async () => reports(from, type)[before])
  }

  const phone = await register(desk, { autoAnswer: true })

  await t.test('are listed with the phones they have; the password is told once', async (t) => {
    const listed = await registered(desk)
    t.match(listed, { name: '204', phones: [{ transport: 'udp', address: '127.0.0.1', user_agent: /baresip/ }] })
    t.notOk(JSON.stringify(listed).includes(desk.password))
    const [row] = await api.store.tenant(user.workspaceId).db.selectFrom('extensions').selectAll().execute()
    t.match(row?.password, /^v1\./)
  })

  await t.test('are refused with a wrong password', async (t) => {
    const { username } = hall
    const stranger = await startCaller(t, sipPort)
    const ask = async (sequence: number, ...lines: string[]) => {
      stranger.send('REGISTER', username, [
        `Via: SIP/2.0/UDP 127.0.0.1:${stranger.port};branch=z9hG4bKregister${sequence};rport`,
        ...['Call-ID: stranger', `CSeq: ${sequence} REGISTER`, `To: <sip:${username}@127.0.0.1>`],
        ...[`From: <sip:${username}@127.0.0.1>;tag=stranger`, ...lines],
      ])
      return until(async () => stranger.answers.find(({ cseq }) => cseq.number === sequence))
    }
    const challenged = await ask(1)
    t.equal(challenged.status, 401)
    const challenge = chooseChallenge(headersOf(challenged, 'www-authenticate'))!
    const request = { method: 'REGISTER', uri: `sip:${username}@127.0.0.1:${sipPort}`, body: new Uint8Array() }
    const answer = answerChallenge(challenge, { username, password: 'wrong-password' }, request, 'c', 1)
    t.equal((await ask(2, `Authorization: ${answer}`)).status, 403)
    t.same((await read(hall)).phones, [])
  })

  const caller = await register(hall)
  await registered(hall)

  await t.test('call an agent by its number, as themselves', async (t) => {
    await dial(caller, number)
    caller.command('hangup')
    const call = await until(async () => (await user.client.get('/calls/logs')).body.items[0])
    const over = await callWhen(user, call.call_log_id, isOver)
    t.match(over, { from_number: '205', to_number: number, direction: 'inbound', status: 'completed' })
    t.equal(over.carrier.trunk, 'extension 205')
  })

  await t.test('call each other; whoever hangs up ends it for both', async (t) => {
    await dial(caller, '204')
    t.match(await phone.event('CALL_ESTABLISHED'), { param: /^sip:205@/ })
    caller.command('hangup')
    await phone.event('CALL_CLOSED')
  })

  await t.test('speak encrypted, where they can', async (t) => {
    const { body: other } = await user.client.post('/extensions', { body: { name: 'wide' } })
    const wide = await startBaresip(t, {
      ...{ says: SILENCE, accountOptions: ';mediaenc=srtp-mand' },
      account: { username: other.username, password: other.password, server: `127.0.0.1:${sipPort}` },
    })
    await registered(other)
    await dial(wide, number)
    const call = await until(async () =>
      (await user.client.get('/calls/logs')).body.items.find((one: Body) => one.from_number === 'wide'),
    )
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    wide.command('hangup')
    const over = await callWhen(user, call.call_log_id, isOver)
    t.ok(over.quality.loss < 0.1, `${over.quality.loss} of the packets could not be read`)
  })

  for (const [codec, named] of [
    ['OPUS', 'opus/48000/2'],
    ['G722', 'G722/16000/1'],
  ] as const) {
    await t.test(`speak ${codec}, both ways`, async (t) => {
      const { body: other } = await user.client.post('/extensions', { body: { name: named.slice(0, 4) } })
      const wide = await startBaresip(t, {
        ...{ says: SILENCE, codecs: named },
        account: { username: other.username, password: other.password, server: `127.0.0.1:${sipPort}` },
      })
      await registered(other)
      await dial(wide, number)
      const call = await until(async () =>
        (await user.client.get('/calls/logs')).body.items.find((one: Body) => one.from_number === named.slice(0, 4)),
      )
      await new Promise((resolve) => setTimeout(resolve, 1_500))
      wide.command('hangup')
      const over = await callWhen(user, call.call_log_id, isOver)
      t.equal(over.quality.codec, codec)
      t.ok(over.quality.loss < 0.1, `${over.quality.loss} of the packets were lost`)
    })
  }

  await t.test('are what an agent leads a caller to; the call goes on with them', async (t) => {
    const { status } = await user.client.put(`/agents/${agentId}`, {
      body: {
        ...{ agent_name: 'Ada', system_prompt: 'You are Ada.', first_message: 'Hello, this is Ada.' },
        tools: [{ type: 'transfer', name: 'to_desk', description: 'Transfers to the desk.', to: '204' }],
      },
    })
    t.equal(status, 200)
    const before = reports(phone, 'CALL_ESTABLISHED').length
    const outside = await startBaresip(t, { says: SILENCE })
    await dial(outside, number)
    await until(async () => reports(phone, 'CALL_ESTABLISHED')[before])
    phone.command('hangup')
    await outside.event('CALL_CLOSED')
    const [call] = (await user.client.get('/calls/logs')).body.items
    t.match(await callWhen(user, call.call_log_id, isOver), { status: 'completed', disposition: 'transferred' })
  })

  await t.test('reach nothing of another workspace', async (t) => {
    const other = await api.signUp()
    const theirs = await add(other, '300')
    const foreign = await register(theirs)
    await until(async () =>
      (await other.client.get(`/extensions/${theirs.extension_id}`)).body.phones.length > 0 ? true : undefined,
    )
    for (const dialled of ['204', number]) {
      t.match(await dial(foreign, dialled, 'CALL_CLOSED'), { param: /404/ })
    }
    t.equal((await other.client.get(`/extensions/${desk.extension_id}`)).status, 404)
  })

  await t.test('lose their phones with their extension', async (t) => {
    t.equal((await user.client.delete(`/extensions/${desk.extension_id}`)).status, 200)
    t.equal((await user.client.get(`/extensions/${desk.extension_id}`)).status, 404)
    t.match(await dial(caller, '204', 'CALL_CLOSED'), { param: /404/ })
  })
})
