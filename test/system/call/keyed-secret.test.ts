import dgram from 'node:dgram'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DtmfDetector } from '../../../runtime/media/tones/dtmf-detector.ts'
import { heapHolds, heapOptions } from '../../support/instance/heap.ts'
import { voiceWorkersOf } from '../../support/instance/instance.ts'
import { testFolder } from '../../support/instance/services.ts'
import { startSipInstance } from '../../support/instance/sip-instance.ts'
import { PHONE_RATE_HZ, saying } from '../../support/phone/phone-says.ts'
import { recordingOf } from '../../support/phone/recording-of.ts'
import { WirePhone } from '../../support/phone/wire-phone.ts'
import { startChatServer } from '../../support/providers/chat-server.ts'
import { startCollector } from '../../support/providers/otlp-collector.ts'
import { skipWithout, startBaresip } from '../../support/sip/sip-peers.ts'
import { waitUntil } from '../../support/world/wait-until.ts'
import { startReceiver } from '../../support/world/webhook-receiver.ts'

/** A secret that is keyed on a telephone, by each way that keys come over SIP. */

const NUMBER = '+14155550100'
const CARDS = { events: '4929831766204513', info: '5381672940836251' }
/** Either card as it may be written. */
const LEAK = /4929[ ,]?8317|5381[ ,]?6729/
/** To the end of any call. */
const SILENCE = saying([], 300_000)

const skip = skipWithout('baresip')

t.test(
  'a secret keyed over SIP stands nowhere but at its tool, the memory of the processes included',
  {
    skip,
    timeout: 800_000,
  },
  async (t) => {
    const heaps = await testFolder(t)
    const spans = await startCollector(t)
    const homer = dgram.createSocket('udp4').bind(0, '127.0.0.1')
    await once(homer, 'listening')
    t.teardown(() => homer.close())
    const captured: string[] = []
    homer.on('message', (bytes) => captured.push(bytes.toString('latin1')))
    const shop = await startReceiver(t, ({ body }, response) => void response.end(`charged ${body.card}`))
    const model = await startChatServer(t, ({ messages }) => {
      const last = messages.at(-1)
      if (last?.role === 'user') return { name: 'collect_card', arguments: {} }
      return last?.content.includes('"use"') ? { name: 'charge', arguments: { card: '{{card}}' } } : 'Thank you.'
    })
    const { instance, client, sipPort } = await startSipInstance(
      t,
      {
        ...model.env,
        PATCHBAY_TOOLS_ALLOW_NET: '127.0.0.1',
        PATCHBAY_RECORD_CALLS: 'true',
        PATCHBAY_VOICE_WORKERS: '1',
        PATCHBAY_HEP_URL: `udp://127.0.0.1:${homer.address().port}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: spans.url,
      },
      heapOptions(heaps),
    )
    const parameters = { type: 'object', properties: { card: { type: 'string' } }, required: ['card'] }
    const { body: agent, text } = await client.post('/agents', {
      body: {
        ...{ agent_name: 'Till', first_message: 'Hello.', system_prompt: 'You are the till.' },
        ...{ LLM_provider: 'openai', LLM_model: 'gpt-4o-mini', TTS_provider: 'sim', TTS_voice: 'tone' },
        dead_air: { enabled: false },
        collect: [{ name: 'card', type: 'digits', length: 16, secret: true, luhn: true }],
        tools: [
          {
            ...{ type: 'http', name: 'charge', description: 'Charges a card.', parameters, secrets: ['card'] },
            http: { method: 'POST', url: shop.url, body: { card: '{{card}}' } },
          },
        ],
      },
    })
    t.ok(agent.agent_id, text)
    await client.post('/phone-numbers', { body: { phone_number: NUMBER, provider: 'sip', agent_id: agent.agent_id } })

    interface Logged {
      type: string
      digit?: string
    }
    const eventsOf = async (callId: string): Promise<Logged[]> =>
      (await client.get(`/calls/${callId}/events`, { query: { page_size: 200 } })).body.items
    /** Keys a card, once the agent asks for it, and resolves when the tool has it. */
    const pay = async (callId: string, card: string, press: (key: string) => unknown): Promise<void> => {
      const keys = async () => (await eventsOf(callId)).filter(({ type }) => type === 'key')
      const has = (type: string) =>
        waitUntil(
          async () => (await eventsOf(callId)).some((one) => one.type === type),
          () => `"${type}" in the log of the call`,
        )
      await has('heard')
      await press('1')
      await has('collecting')
      for (const [n, key] of [...card].entries()) {
        await press(key)
        await waitUntil(
          async () => (await keys()).length >= n + 2,
          () => `key ${n + 1} of the card in the log`,
        )
      }
      await waitUntil(
        () => shop.received.some(({ body }) => body.card === card),
        () => 'the tool with the card',
      )
      await has('tool_returned')
      const [first, ...rest] = await keys()
      t.equal(first?.digit, '1', 'what is no part of a secret is told')
      t.same([...new Set(rest.map(({ digit }) => digit))], ['*'])
    }
    const newest = async (): Promise<string> => {
      let callId: string | undefined
      await waitUntil(
        async () => {
          const items = (await client.get('/calls/logs')).body.items as { call_log_id: string; status: string }[]
          callId = items.find(({ status }) => status === 'in_progress')?.call_log_id
          return callId !== undefined
        },
        () => 'the call in the list',
      )
      return callId!
    }
    const over = async (callId: string): Promise<void> => {
      const statusOf = async () => (await client.get(`/calls/${callId}`)).body.status
      await waitUntil(
        async () => (await statusOf()) !== 'in_progress',
        () => 'the end of the call',
      )
      t.equal(await statusOf(), 'completed')
    }

    const baresip = await startBaresip(t, { says: SILENCE })
    baresip.command('dial', `sip:${NUMBER}@127.0.0.1:${sipPort}`)
    await baresip.event('CALL_ESTABLISHED')
    const byEvents = await newest()
    await pay(byEvents, CARDS.events, (key) => baresip.command('sndcode', key))
    t.ok(
      await heapHolds(heaps, instance.child.pid!, LEAK),
      'while the call runs the api node has it, and this finds it',
    )
    baresip.command('hangup')
    await over(byEvents)

    const wire = await WirePhone.start(t, sipPort)
    await wire.call(NUMBER)
    const byInfo = await newest()
    await pay(byInfo, CARDS.info, (key) => wire.press(key))
    await wire.hangUp()
    await over(byInfo)

    t.same(
      shop.received.map(({ body }) => body),
      [{ card: CARDS.events }, { card: CARDS.info }],
      'the tool has each once',
    )
    for (const callId of [byEvents, byInfo]) {
      const { caller } = await recordingOf(client, callId)
      t.same(new DtmfDetector(PHONE_RATE_HZ).push(caller), [], 'no key can be heard in the recording')
      const told = [await eventsOf(callId), (await client.get(`/calls/${callId}`)).body]
      const signals = (await client.get(`/calls/${callId}/sip`)).body
      t.notMatch(JSON.stringify([told, signals]), LEAK)
      t.notMatch(JSON.stringify(signals), /Signal=/)
      await waitUntil(
        () => spans.spans.some(({ name, traceId }) => name === 'call' && traceId === callId.replaceAll('-', '')),
        () => 'the trace of the call',
      )
    }
    t.match(captured.join(), /INFO sip:/, 'the capture has the messages that keys came in')
    t.notMatch(captured.join(), /Signal=/)
    t.notMatch(JSON.stringify(spans.spans), LEAK)
    t.ok(model.asked.length >= 6, 'the model was asked')
    t.notMatch(JSON.stringify(model.asked), LEAK)

    for (const pid of [instance.child.pid!, ...(await voiceWorkersOf(instance))])
      t.notOk(await heapHolds(heaps, pid, LEAK), `process ${pid} keeps nothing of it once the calls are over`)
    t.notMatch(instance.output(), LEAK)
    await instance.stop()
    for (const entry of await readdir(instance.dataDir, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      if (LEAK.test(await readFile(path, 'latin1').catch(() => ''))) t.fail(`the secret stands in ${path}`)
    }
  },
)
