import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../../test/support/instance/services.ts'
import { WirePhone } from '../../test/support/phone/wire-phone.ts'
import { startSipResponder } from '../../test/support/sip/sip-responder.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const NUMBER = '+14155550100'
const SIP_NUMBER = '+14155550199'
const CALL_MS = 4_000
const FIRST_NAMES = ['Grace', 'Alan', 'Mary', 'Edsger', 'Barbara', 'Ken', 'Radia', 'Donald']
const PROMPT = `You answer the phone of the Hotel Aurora.
Breakfast is served from seven to ten in the garden room.
Check-in is from three in the afternoon, check-out is at eleven.
Parking is free and in front of the house.`
const CALLS_TIMEOUT_MS = 120_000

/** What the answers that are read here have. */
interface Answer {
  agent_id: string
  slug: string
  list_slug: string
  webhook_id: string
  trunk_id: string
  key: string
  items: { call_log_id: string; recording_url: string | null }[]
}

/** A workspace as it may look after a morning: agents, numbers, calls, a campaign, a batch, a document. */
export async function makePictureData(t: Teardown, url: string, sipPort: number) {
  let cookies: string[] = []
  async function ask(method: string, path: string, body?: object | FormData): Promise<Answer> {
    const isForm = body instanceof FormData
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { cookie: cookies.join('; '), ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const set = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
    if (set.length > 0) cookies = set
    const said = (await answer.json()) as Answer
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(said)}`)
    return said
  }

  await ask('POST', '/auth/signup', {
    name: 'Ada Lovelace',
    email: EMAIL,
    password: PASSWORD,
    phone_number: '+14155550123',
  })
  await ask('POST', '/auth/login', { email: EMAIL, password: PASSWORD })
  const tools = [{ type: 'hang_up', name: 'end_call', description: 'When the caller says goodbye.' }]
  const first_message = 'Hotel Aurora, good day! How can I help you?'
  const { agent_id: agentId } = await ask('POST', '/agents', {
    agent_name: 'Front desk',
    system_prompt: PROMPT,
    first_message,
    tools,
    public: {
      origins: ['https://hotel.example.com'],
      look: { color: '#7a2e8e', greeting: 'Ask me about rooms, breakfast and parking.' },
    },
  })
  const { webhook_id: webhookId } = await ask('POST', '/webhooks', {
    url: 'https://crm.example.com/patchbay',
    types: ['call.ended', 'call.analyzed'],
    description: 'CRM',
  })
  for (const agent_name of ['Reservations', 'Night porter'])
    await ask('POST', '/agents', { agent_name, system_prompt: PROMPT, first_message })
  await ask('POST', '/phone-numbers', { phone_number: NUMBER, provider: 'sim', agent_id: agentId })
  const [carrier, office] = await Promise.all([200, 403].map((status) => startSipResponder(t, () => status)))
  const trunk = (name: string, port: number) =>
    ask('POST', '/trunks', {
      ...{ name, host: `127.0.0.1:${port}`, register: true, username: 'aurora', password: 'a long password' },
    })
  const { trunk_id: trunkId } = await trunk('Carrier', carrier!.port)
  await trunk('Office', office!.port)
  await ask('POST', '/phone-numbers', {
    ...{ phone_number: SIP_NUMBER, provider: 'sip', trunk: 'Carrier', agent_id: agentId },
  })
  await useKey(url, (await ask('POST', '/api-keys', { name: 'CRM' })).key, agentId)

  const callPeople = async (): Promise<void> => {
    for (let at = 0; at < 6; at++) {
      const phone_number_to_dial = `+1415555${3000 + at}`
      await ask('POST', '/calls/outbound_call', {
        agent_phone_number: NUMBER,
        phone_number_to_dial,
        dynamic_variables: {},
      })
    }
  }
  await callPeople()
  const document = new FormData()
  document.append('files', new Blob([PROMPT.repeat(4)], { type: 'text/plain' }), 'house rules.txt')
  await ask('POST', `/agents/${agentId}/upload`, document)

  const batch = new FormData()
  for (const [name, value] of Object.entries({
    name: 'Arrivals of Friday',
    agent_id: agentId,
    agent_phone_number: NUMBER,
  }))
    batch.set(name, value)
  batch.set(
    'file',
    new Blob([`phone_number,name\n+14155554001,Grace\n+14155554002,Alan\n`], { type: 'text/csv' }),
    'arrivals.csv',
  )
  await ask('POST', '/batch/upload', batch)

  const { slug: campaign } = await ask('POST', '/api/v/campaign/', {
    name: 'Spring guests',
    agent_id: agentId,
    paused: true,
  })
  const { list_slug } = await ask('POST', '/api/v/list/', { campaign, name: 'Guests of last spring' })
  const rows = FIRST_NAMES.map((name, at) => `+1415555${5000 + at},${name},Guest,CA`)
  const people = new FormData()
  people.set('dedupe', 'true')
  people.set(
    'original_data',
    new Blob([`primary_phone,first_name,last_name,state\n${rows.join('\n')}\n12,No,Number,CA\n`], { type: 'text/csv' }),
    'guests.csv',
  )
  await ask('POST', `/api/v/upload/${list_slug}/`, people)

  const endMs = Date.now() + CALLS_TIMEOUT_MS
  let callId = ''
  while (callId === '') {
    const { items } = await ask('GET', '/calls/logs?status=completed')
    callId = items.find(({ recording_url }) => recording_url !== null)?.call_log_id ?? ''
    if (Date.now() > endMs) throw new Error('No call came to its end')
    await sleep(500)
  }
  const phone = await WirePhone.start(t, sipPort, 'Grace Hopper')
  await callIn(phone, endMs)
  const answered = `/calls/logs?status=completed&number=${encodeURIComponent(SIP_NUMBER)}`
  let sipCallId = ''
  while (sipCallId === '') {
    sipCallId = (await ask('GET', answered)).items[0]?.call_log_id ?? ''
    if (Date.now() > endMs) throw new Error('The phone call did not come to its end')
    await sleep(500)
  }
  const ofBrowser = () =>
    cookies.map((pair) => ({ name: pair.slice(0, pair.indexOf('=')), value: pair.slice(pair.indexOf('=') + 1), url }))
  return { agentId, webhookId, trunkId, campaign, callId, sipCallId, callPeople, cookies: ofBrowser }
}

/** One that is refused, as by a machine that is busy with the other calls, calls again. */
async function callIn(phone: WirePhone, endMs: number): Promise<void> {
  for (;;) {
    try {
      await phone.call(SIP_NUMBER)
      break
    } catch (error) {
      if (Date.now() > endMs) throw error
      await sleep(2_000)
    }
  }
  await sleep(CALL_MS)
  await phone.hangUp()
}

/** What a server of the hotel may ask for in a morning, its mistakes included. */
async function useKey(url: string, key: string, agentId: string): Promise<void> {
  const call = { agent_phone_number: NUMBER, phone_number_to_dial: 'front desk', dynamic_variables: {} }
  const asked: [method: string, path: string, body?: object][] = [
    ['GET', '/agents'],
    ['GET', `/agents/${agentId}`],
    ['GET', '/calls/logs?status=completed'],
    ['GET', '/calls/logs?statsu=failed'],
    ['POST', '/calls/outbound_call', call],
    ['DELETE', `/agents/${agentId}`],
    ['GET', '/reports/dashboard'],
    ['GET', `/calls/${agentId}`],
    ['GET', '/phone-numbers'],
    ['GET', '/agents'],
  ]
  for (const [method, path, body] of asked) {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) }
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    await answer.body?.cancel()
  }
}
