import dgram from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { LinkedConversation, OpenConversation } from '../../../../../runtime/call/link/linked-conversation.ts'
import { decodeG711 } from '../../../../../runtime/media/codecs/g711.ts'
import { readRtp, writeRtp } from '../../../../../runtime/media/line/rtp-packet.ts'
import type { TestUser } from '../../../../support/instance/api.ts'
import type { Teardown } from '../../../../support/instance/services.ts'
import { callWhen, isOver, linkWorker } from '../../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../../support/phone/scripted-conversation.ts'
import { answerKeepAlive, freePort, type Sipp, skipWithout, startSipp } from '../../../../support/sip/sip-peers.ts'
import { addSipNumber, startSipApi } from '../../../../support/sip/sip-phone.ts'
import { waitUntil } from '../../../../support/world/wait-until.ts'

const skip = skipWithout('sipp')
const TOOLS = [
  { type: 'transfer', name: 'to_support', description: 'Transfers to support.', to: '+14155550199' },
  { type: 'transfer', name: 'to_desk', description: 'Transfers to the desk.', to: '+14155550199', mode: 'warm' },
  { type: 'send_dtmf', name: 'press', description: 'Presses keys.' },
]

/** The same, where whoever is told of the caller answers what the agent asks them. */
const conversationThatConsults = (consent: 'given' | 'refused', told: string[]): OpenConversation => {
  const leads = conversationThatCalls('to_desk', { summary: 'Ann asks for her bill.' })
  return async (open, port) => {
    const question = open.agent.consentMessage
    if (question === undefined) return leads(open, port)
    told.push(question)
    const conversation: LinkedConversation = {
      audio: () => port.tell({ type: 'consent', consent }),
      input: () => undefined,
      played: () => undefined,
      close: async () => undefined,
    }
    return conversation
  }
}

/** A conversation that calls a tool as soon as the caller is heard, and nothing else. */
const conversationThatCalls = (name: string, input: Record<string, unknown>): OpenConversation => {
  return async (open, port) => {
    const scripted = await scriptedConversation(open, port)
    let asked = false
    const conversation: LinkedConversation = {
      audio() {
        if (asked) return
        asked = true
        void port
          .ask('tool', { id: 'tool-1', name, arguments: input }, AbortSignal.timeout(60_000))
          .catch(() => undefined)
      },
      input: (event) => scripted.input(event),
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

/** One end of a call's media: what it heard. */
interface Voice {
  /** Frames by the value they were filled with. */
  readonly heard: Map<number, number>
  readonly keys: Set<number>
  /** Frames of a ringing tone. */
  rang: number
}

/**
 * The media of one call, or of several one after the other: each says a value of its own over and over once it is sent
 * anything.
 */
async function startVoices(t: Teardown, ...says: number[]) {
  const socket = dgram.createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const voices = says.map((): Voice => ({ heard: new Map(), keys: new Set(), rang: 0 }))
  const timers: NodeJS.Timeout[] = []
  const ports: number[] = []
  socket.on('message', (bytes, from) => {
    const packet = readRtp(bytes)
    if (packet === undefined) return
    if (!ports.includes(from.port)) {
      const ssrc = says[ports.push(from.port) - 1] ?? 0
      let sequence = 0
      const speak = (): void => {
        const spoken = {
          ...{ payloadType: 0, marker: sequence === 0, sequence: sequence & 0xffff, ssrc },
          ...{ timestamp: sequence * 160, payload: new Uint8Array(160).fill(ssrc) },
        }
        sequence++
        socket.send(writeRtp(spoken), from.port, from.address)
      }
      timers.push(setInterval(speak, 20))
    }
    const voice = voices[ports.indexOf(from.port)]
    if (voice === undefined) return
    const value = packet.payload[80] ?? -1
    if (packet.payloadType === 101) voice.keys.add(packet.payload[0] ?? -1)
    else if (isRinging(packet.payload)) voice.rang++
    else voice.heard.set(value, (voice.heard.get(value) ?? 0) + 1)
  })
  t.teardown(() => {
    for (const timer of timers) clearInterval(timer)
    socket.close()
  })
  return { port: socket.address().port, voices }
}

/** Is most of the frame's energy at the two frequencies of a North American ringing tone? */
function isRinging(frame: Uint8Array): boolean {
  const decoded = decodeG711('pcmu', frame)
  const mean = decoded.reduce((sum, sample) => sum + sample, 0) / decoded.length
  const samples = [...decoded].map((sample) => sample - mean)
  const energy = samples.reduce((sum, sample) => sum + sample ** 2, 0)
  if (energy < 160 * 500 ** 2) return false
  // What is left after a filter with its zeros there: x[n] - 2·cos(ω)·x[n-1] + x[n-2], twice.
  let rest = samples
  for (const hz of [440, 480]) {
    const twice = 2 * Math.cos((2 * Math.PI * hz) / 8_000)
    rest = rest.slice(2).map((sample, n) => sample - twice * (rest[n + 1] ?? 0) + (rest[n] ?? 0))
  }
  return rest.reduce((sum, sample) => sum + sample ** 2, 0) < energy / 100
}

const CALLER = 0x91
const CALLEE = 0x92
const SUPPORT = 0x15

/** Resolves once as many frames of a value were heard there. */
const hears = (voice: Voice | undefined, value: number, frames: number): Promise<void> =>
  waitUntil(
    () => (voice?.heard.get(value) ?? 0) > frames,
    () => `${value} at ${JSON.stringify([...(voice?.heard ?? [])])}`,
  )
const rings = (voice: Voice | undefined): Promise<void> => waitUntil(() => (voice?.rang ?? 0) > 20)

t.test('a caller is led to somebody else, against sipp', { skip }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatCalls('to_support', {}) })
  let trunks = 0

  interface Led {
    caller: Voice
    support: Voice
    calling: Sipp
    callee: Sipp | undefined
  }
  /** Somebody calls; the agent leads them to the other one. `meanwhile` says when who goes on. Resolves once both have left. */
  const lead = async (
    callerDoes: string,
    supportDoes: string | undefined,
    meanwhile: (led: Led) => Promise<void> = async () => undefined,
  ) => {
    const port = await freePort()
    let made = { number: '', agentId: '' }
    await answerKeepAlive(port, async () => {
      made = await addSipNumber(sip, { name: `peer-${++trunks}`, host: `127.0.0.1:${port}` })
    })
    await giveTools(sip.user, made.agentId)
    const [caller, support] = [await startVoices(t, CALLER), await startVoices(t, SUPPORT)]
    const media = ({ port }: { port: number }) => ['-key', 'media', String(port)]
    const callee =
      supportDoes === undefined ? undefined : await startSipp(t, { scenario: supportDoes, port, args: media(support) })
    const calling = await startSipp(t, {
      scenario: callerDoes,
      peer: `127.0.0.1:${sip.sipPort}`,
      args: ['-s', made.number, ...media(caller)],
    })
    await meanwhile({ caller: caller.voices[0]!, support: support.voices[0]!, calling, callee })
    const [called, answered] = await Promise.all([calling.done, callee?.done])
    t.equal(called.code, 0, called.errors)
    if (answered !== undefined) t.equal(answered.code, 0, answered.errors)
    const { call_log_id } = (await sip.user.client.get('/calls/logs')).body.items[0]
    return {
      caller: caller.voices[0]!,
      support: support.voices[0]!,
      call: await callWhen(sip.user, call_log_id, isOver),
    }
  }
  const transferred = { status: 'completed', end_reason: 'transferred', disposition: 'transferred' }

  t.test('by REFER, where it is taken', async (t) => {
    const { call } = await lead('transfer/in-takes-refer', undefined)
    t.match(call, transferred)
  })

  t.test('where REFER is refused, both are joined until the caller hangs up', async (t) => {
    const { caller, support, call } = await lead('transfer/in-refuses-refer', 'transfer/out-joined', async (led) => {
      await rings(led.caller)
      await led.callee?.goOn()
      await Promise.all([hears(led.caller, SUPPORT, 20), hears(led.support, CALLER, 20)])
      await led.calling.goOn()
    })
    t.match(call, transferred)
    t.ok((caller.heard.get(SUPPORT) ?? 0) > 20, 'the caller hears support')
    t.ok((support.heard.get(CALLER) ?? 0) > 20, 'support hears the caller')
    t.ok(caller.rang > 20, 'the caller heard it ring there')
    t.equal(support.rang, 0)
  })

  t.test('or until the other one does', async (t) => {
    const { caller, support, call } = await lead(
      'transfer/in-refuses-refer-let-go',
      'transfer/out-joined-leaves',
      async (led) => {
        await Promise.all([hears(led.caller, SUPPORT, 20), hears(led.support, CALLER, 20)])
        await led.callee?.goOn()
      },
    )
    t.match(call, transferred)
    t.ok((caller.heard.get(SUPPORT) ?? 0) > 20 && (support.heard.get(CALLER) ?? 0) > 20, 'both heard each other')
  })

  t.test('who is busy there stays with the agent', async (t) => {
    const { call } = await lead('transfer/in-refuses-refer', 'outbound/busy', async ({ calling, callee }) => {
      await callee?.done
      await sleep(1_000)
      await calling.goOn()
    })
    t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
  })
})

for (const consent of ['given', 'refused'] as const) {
  t.test(`somebody who is told of the caller and says ${consent === 'given' ? 'yes' : 'no'}`, { skip }, async (t) => {
    const sip = await startSipApi(t)
    const told: string[] = []
    await linkWorker(t, sip.api, { openConversation: conversationThatConsults(consent, told) })
    const port = await freePort()
    let made = { number: '', agentId: '' }
    await answerKeepAlive(port, async () => {
      made = await addSipNumber(sip, { host: `127.0.0.1:${port}` })
    })
    await giveTools(sip.user, made.agentId)
    const [caller, desk] = [await startVoices(t, CALLER), await startVoices(t, SUPPORT)]
    const media = ({ port }: { port: number }) => ['-key', 'media', String(port)]
    const callee = await startSipp(t, { scenario: 'transfer/out-joined', port, args: media(desk) })
    const calling = await startSipp(t, {
      scenario: 'transfer/in-stays',
      peer: `127.0.0.1:${sip.sipPort}`,
      args: ['-s', made.number, ...media(caller)],
    })
    await callee.saw('SIP/2.0 180')
    await callee.goOn()
    if (consent === 'given') {
      await Promise.all([hears(caller.voices[0], SUPPORT, 100), hears(desk.voices[0], CALLER, 100)])
    } else {
      await callee.done
      await sleep(1_000)
    }
    await calling.goOn()
    const [called, answered] = await Promise.all([calling.done, callee.done])
    t.equal(called.code, 0, called.errors)
    t.equal(answered.code, 0, answered.errors)
    t.match(told, [/^Ann asks for her bill\. Would you like to take the call\?/])
    const { call_log_id } = (await sip.user.client.get('/calls/logs')).body.items[0]
    const call = await callWhen(sip.user, call_log_id, isOver)
    const heard = caller.voices[0]?.heard.get(SUPPORT) ?? 0
    if (consent === 'given') {
      t.match(call, { status: 'completed', end_reason: 'transferred', disposition: 'transferred' })
      t.ok(heard > 20, `the caller hears the desk: ${heard}`)
      t.ok((desk.voices[0]?.heard.get(CALLER) ?? 0) > 20, 'the desk hears the caller')
      t.ok(call.duration > 1, 'the call goes on while they talk')
    } else {
      t.match(call, { status: 'completed', end_reason: 'caller_hangup' })
      t.equal(heard, 0, 'the caller is back with the agent')
    }
  })
}

t.test('a joined call is ended over the API, for both', { skip }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatConsults('given', []) })
  const port = await freePort()
  let made = { number: '', agentId: '' }
  await answerKeepAlive(port, async () => {
    made = await addSipNumber(sip, { host: `127.0.0.1:${port}` })
  })
  await giveTools(sip.user, made.agentId)
  const [caller, desk] = [await startVoices(t, CALLER), await startVoices(t, SUPPORT)]
  const media = ({ port }: { port: number }) => ['-key', 'media', String(port)]
  const callee = await startSipp(t, { scenario: 'transfer/out-joined', port, args: media(desk) })
  const calling = await startSipp(t, {
    scenario: 'transfer/in-is-left',
    peer: `127.0.0.1:${sip.sipPort}`,
    args: ['-s', made.number, ...media(caller)],
  })
  await callee.saw('SIP/2.0 180')
  await callee.goOn()
  await hears(caller.voices[0], SUPPORT, 10)
  const { call_log_id } = (await sip.user.client.get('/calls/logs')).body.items[0]
  t.match((await sip.user.client.get(`/calls/${call_log_id}`)).body, { status: 'in_progress' })
  await sip.user.client.post(`/calls/${call_log_id}/hangup`)
  const [called, answered] = await Promise.all([calling.done, callee.done])
  t.equal(called.code, 0, called.errors)
  t.equal(answered.code, 0, answered.errors)
  t.match(await callWhen(sip.user, call_log_id, isOver), { end_reason: 'api_hangup', disposition: 'transferred' })
})

t.test('a callee is led to somebody else, against sipp', { skip }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatCalls('to_support', {}) })
  const port = await freePort()
  let made = { number: '', agentId: '' }
  await answerKeepAlive(port, async () => {
    made = await addSipNumber(sip, { host: `127.0.0.1:${port}` })
  })
  await giveTools(sip.user, made.agentId)
  // The trunk has the callee as well as support: the one is asked to refer, the other is called after that.
  const media = await startVoices(t, CALLEE, SUPPORT)
  const args = ['-m', '2', '-key', 'media', String(media.port)]
  const trunk = await startSipp(t, { scenario: 'transfer/out-refuses-refer', port, args })
  const { body } = await sip.user.client.post('/calls/outbound_call', {
    body: { agent_phone_number: made.number, phone_number_to_dial: '+14155550177' },
  })
  await trunk.saw('SIP/2.0 180')
  await trunk.goOn()
  await rings(media.voices[0])
  await trunk.goOn(1)
  await Promise.all([hears(media.voices[0], SUPPORT, 20), hears(media.voices[1], CALLEE, 20)])
  await trunk.goOn()
  const { code, errors } = await trunk.done
  t.equal(code, 0, errors)
  const call = await callWhen(sip.user, body.call_log_id, isOver)
  t.match(call, { direction: 'outbound', status: 'completed', end_reason: 'transferred', disposition: 'transferred' })
  const [callee, support] = media.voices
  t.ok((callee?.heard.get(SUPPORT) ?? 0) > 20, 'the callee hears support')
  t.ok((support?.heard.get(CALLEE) ?? 0) > 20, 'support hears the callee')
  t.ok((callee?.rang ?? 0) > 20, 'the callee heard it ring there')
})

t.test('the agent presses keys, and the caller gets them', { skip }, async (t) => {
  const sip = await startSipApi(t)
  await linkWorker(t, sip.api, { openConversation: conversationThatCalls('press', { keys: '42#' }) })
  const { number, agentId } = await addSipNumber(sip)
  await giveTools(sip.user, agentId)
  const { port, voices } = await startVoices(t, CALLER)
  const { keys } = voices[0]!
  const args = ['-s', number, '-key', 'media', String(port)]
  const { child } = await startSipp(t, {
    scenario: 'transfer/in-refuses-refer',
    peer: `127.0.0.1:${sip.sipPort}`,
    args,
  })
  const untilMs = performance.now() + 90_000
  while (keys.size < 3 && performance.now() < untilMs) await new Promise((resolve) => setTimeout(resolve, 50))
  t.same([...keys], [4, 2, 11])
  child.kill('SIGKILL')
})
