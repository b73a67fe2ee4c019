import dgram from 'node:dgram'
import { once } from 'node:events'
import t from 'tap'
import { readRtp, writeRtp } from '../../../plugins/sip/rtp-packet.ts'
import type { Conversation, OpenConversation } from '../../../runtime/conversation/contract.ts'
import type { TestUser } from '../../support/api.ts'
import { callWhen, isOver, linkWorker } from '../../support/phone.ts'
import { scriptedConversation } from '../../support/scripted-conversation.ts'
import type { Teardown } from '../../support/services.ts'
import { answerKeepAlive, freePort, skipWithout, startSipp } from '../../support/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../support/sip-phone.ts'

const skip = skipWithout('sipp')
const TOOLS = [
  { type: 'transfer', name: 'to_support', description: 'Transfers to support.', to: '+14155550199' },
  { type: 'send_dtmf', name: 'press', description: 'Presses keys.' },
]

/** A conversation that calls a tool as soon as the caller is heard, and nothing else. */
const conversationThatCalls = (name: string, input: Record<string, unknown>): OpenConversation => {
  return async (open, port) => {
    const scripted = await scriptedConversation(open, port)
    let asked = false
    const conversation: Conversation = {
      audio() {
        if (asked) return
        asked = true
        void port.ask('tool', { name, arguments: input }, AbortSignal.timeout(10_000)).catch(() => undefined)
      },
      text: (text) => scripted.text(text),
      dtmf: (digit) => scripted.dtmf(digit),
      played: (id) => scripted.played(id),
      close: (reason) => scripted.close(reason),
    }
    return conversation
  }
}

async function giveTools({ client }: TestUser, agentId: string): Promise<void> {
  const { status, body } = await client.put(`/agents/${agentId}`, {
    body: {
      ...{ agent_name: 'Ada', system_prompt: 'You are Ada.', first_message: 'Hello, this is Ada.' },
      tools: TOOLS,
    },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

/** Somebody's media: says one value over and over once it is sent anything, and counts what it hears. */
async function startVoice(t: Teardown, says: number) {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const heard = new Map<number, number>()
  const keys = new Set<number>()
  let sequence = 0
  let timer: NodeJS.Timeout | undefined
  socket.on('message', (bytes, from) => {
    const packet = readRtp(bytes)
    if (packet === undefined) return
    if (packet.payloadType === 101) keys.add(packet.payload[0] ?? -1)
    else heard.set(packet.payload[80] ?? -1, (heard.get(packet.payload[80] ?? -1) ?? 0) + 1)
    timer ??= setInterval(() => {
      const spoken = {
        ...{ payloadType: 0, marker: sequence === 0, sequence: sequence & 0xffff, ssrc: says },
        ...{ timestamp: sequence * 160, payload: new Uint8Array(160).fill(says) },
      }
      sequence++
      socket.send(writeRtp(spoken), from.port, from.address)
    }, 20)
  })
  t.teardown(() => {
    clearInterval(timer)
    socket.close()
  })
  return { port: socket.address().port, heard, keys }
}

const CALLER = 0x91
const SUPPORT = 0x15

t.test('a caller is led to somebody else, against sipp', { skip, timeout: 280_000 }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatCalls('to_support', {}) })
  let trunks = 0

  /** Somebody calls; the agent leads them to the other one. Resolves once both have left. */
  const lead = async (callerDoes: string, supportDoes: string | undefined) => {
    const port = await freePort()
    let made = { number: '', agentId: '' }
    await answerKeepAlive(port, async () => {
      made = await addSipNumber(sip, { name: `peer-${++trunks}`, host: `127.0.0.1:${port}` })
    })
    await giveTools(sip.user, made.agentId)
    const [caller, support] = [await startVoice(t, CALLER), await startVoice(t, SUPPORT)]
    const media = (voice: { port: number }) => ['-key', 'media', String(voice.port)]
    const callee =
      supportDoes === undefined ? undefined : await startSipp(t, { scenario: supportDoes, port, args: media(support) })
    const calling = await startSipp(t, {
      scenario: callerDoes,
      peer: `127.0.0.1:${sip.sipPort}`,
      args: ['-s', made.number, ...media(caller)],
    })
    const [called, answered] = await Promise.all([calling.done, callee?.done])
    t.equal(called.code, 0, called.errors)
    if (answered !== undefined) t.equal(answered.code, 0, answered.errors)
    const { call_log_id } = (await sip.user.client.get('/calls/logs')).body.items[0]
    return { caller, support, call: await callWhen(sip.user, call_log_id, isOver) }
  }
  const transferred = { status: 'completed', end_reason: 'transferred', disposition: 'transferred' }

  t.test('by REFER, where it is taken', async (t) => {
    const { call } = await lead('in-takes-refer', undefined)
    t.match(call, transferred)
  })

  t.test('where REFER is refused, both are joined until the caller hangs up', async (t) => {
    const { caller, support, call } = await lead('in-refuses-refer', 'out-joined')
    t.match(call, transferred)
    t.ok((caller.heard.get(SUPPORT) ?? 0) > 20, 'the caller hears support')
    t.ok((support.heard.get(CALLER) ?? 0) > 20, 'support hears the caller')
  })

  t.test('or until the other one does', async (t) => {
    const { caller, support, call } = await lead('in-refuses-refer-let-go', 'out-joined-leaves')
    t.match(call, transferred)
    t.ok((caller.heard.get(SUPPORT) ?? 0) > 20 && (support.heard.get(CALLER) ?? 0) > 20, 'both heard each other')
  })

  t.test('who is busy there stays with the agent', async (t) => {
    const { call } = await lead('in-refuses-refer', 'out-busy')
    t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
  })
})

t.test('the agent presses keys, and the caller gets them', { skip, timeout: 280_000 }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatCalls('press', { keys: '42#' }) })
  const { number, agentId } = await addSipNumber(sip)
  await giveTools(sip.user, agentId)
  const caller = await startVoice(t, CALLER)
  const args = ['-s', number, '-key', 'media', String(caller.port)]
  const { child } = await startSipp(t, { scenario: 'in-refuses-refer', peer: `127.0.0.1:${sip.sipPort}`, args })
  const untilMs = performance.now() + 90_000
  while (caller.keys.size < 3 && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 50))
  t.same([...caller.keys], [4, 2, 11])
  child.kill('SIGKILL')
})
