import t from 'tap'
import { callEvents } from '../../../../store/calls/call-events.ts'
import { type LiveEvent, liveChannel } from '../../../../store/redis/live-feed.ts'
import {
  endedCall,
  makeCall,
  openSession,
  RealtimeClient,
  readCall,
  SAMPLE_RATE_HZ,
  startNode,
  startWorker,
  until,
  upgradeStatus,
} from '../../../support/instance/realtime-node.ts'
import { FINAL_STT_SECONDS } from '../../../support/phone/scripted-conversation.ts'
import { ownTime } from '../../../support/world/own-time.ts'

const FRAME_BYTES = (SAMPLE_RATE_HZ / 50) * 2
/** Twice what the kernel holds of a connection that nobody reads, and no more: a busy machine has to carry it before it is closed. */
const FLOODS = 20

t.test('a realtime session', async (t) => {
  const node = await startNode(t)
  await startWorker(t, [node])

  t.test('carries audio, typed turns, keys and marks both ways, and is written down', async (t) => {
    const waiting = await makeCall(node)
    const client = await openSession(t, node, waiting)
    t.same(await client.got('session.started'), {
      type: 'session.started',
      call_log_id: waiting.callId,
      audio: { encoding: 'pcm_s16le', sample_rate: SAMPLE_RATE_HZ },
      protocol: 1,
    })
    t.equal(client.messages[0]?.type, 'session.started', 'nothing comes before it')
    t.match(await client.got('transcript'), { role: 'assistant', text: 'Hello Bob', final: true })
    await client.got('agent.state', { state: 'listening' })

    for (let i = 0; i < 20; i++) client.socket.send(Buffer.alloc(FRAME_BYTES, i))
    await until(() => client.audioBytes === 20 * FRAME_BYTES)

    client.send({ type: 'text', text: 'how are you' })
    await client.got('agent.state', { state: 'thinking' })
    await client.got('transcript', { text: '2: how are you' })
    client.send({ type: 'dtmf', digit: '#' })
    await client.got('transcript', { text: 'key #' })
    client.send({ type: 'text', text: 'mark' })
    const mark = await client.got('audio.mark')
    client.send({ type: 'audio.played', id: mark.id })
    await client.got('transcript', { text: 'played 7' })
    client.send({ type: 'audio.played', id: mark.id })
    client.send({ type: 'text', text: 'clear' })
    await client.got('audio.clear')
    client.send({ type: 'text', text: 'ask' })
    await client.got('transcript', { text: '{"passages":[]}' })

    client.send({ type: 'end' })
    t.match(await client.got('session.ended'), { reason: 'caller_hangup' })
    t.equal(await client.closed(), 1000)
    const { call, turns } = await endedCall(node, waiting)
    t.match(call, {
      status: 'completed',
      end_reason: 'caller_hangup',
      disposition: 'completed',
      error: null,
      llm_input_tokens: 10,
      llm_output_tokens: 2,
      stt_seconds: 0.5 + FINAL_STT_SECONDS,
      tts_characters: 11,
      turn_latencies_ms: [321, 321, 321],
    })
    t.ok(call.answered_at !== null && call.ended_at !== null && (call.duration_ms ?? -1) >= 0)
    t.same(
      turns.map(({ role, text }) => `${role}: ${text}`),
      [
        'assistant: Hello Bob',
        'user: how are you',
        'assistant: 2: how are you',
        'user: key #',
        'assistant: played 7',
        'assistant: {"passages":[]}',
      ],
    )
    await until(async () => (await node.redis.zCard('patchbay:{calls}:leases')) === 0)
  })

  t.test('is a log of events, written within seconds and shown as they happen', async (t) => {
    const waiting = await makeCall(node)
    const listener = node.redis.duplicate()
    await listener.connect()
    t.teardown(() => listener.destroy())
    const live: LiveEvent[] = []
    await listener.subscribe(liveChannel(waiting.workspaceId), (message) => live.push(...JSON.parse(message)))
    const client = await openSession(t, node, waiting)
    client.send({ type: 'text', text: 'recite' })
    await client.got('transcript', { text: 'one two' })
    client.send({ type: 'text', text: 'how are you' })
    await client.got('transcript', { text: '2: how are you' })
    client.send({ type: 'end' })
    await endedCall(node, waiting)

    const tenant = node.store.tenant(waiting.workspaceId)
    const read = () => callEvents(tenant, { id: waiting.callId, createdAt: new Date() }, 0, 1_000)
    await until(async () => (await read()).events.at(-1)?.type === 'ended')
    const { events, total } = await read()
    t.same(
      events.map(({ seq }) => seq),
      Array.from({ length: total }, (_, i) => i),
      'without gaps',
    )
    t.same(
      events.map(({ type }) => type).filter((type) => type !== 'usage'),
      [
        'queued',
        'ringing',
        'answered',
        'worker_taken',
        'heard',
        'typed',
        'inputs_taken',
        'typed',
        'words',
        'turn',
      ].concat(['latency', 'heard', 'ended']),
    )
    t.match(
      events.find(({ type }) => type === 'worker_taken'),
      { worker: /^worker-[0-9a-f]{12}$/ },
      "the host of a worker is nobody's business",
    )
    await until(() => live.at(-1)?.type === 'ended')
    t.ok(live.every(({ call_id }) => call_id === waiting.callId))
    t.match(
      live.filter(({ type }) => type === 'heard'),
      [{ text: 'Hello Bob' }, { text: 'one two', final: false }, { text: '2: how are you' }],
      'what is only shown is shown',
    )
  })

  t.test('is opened by its token once, and by no other', async (t) => {
    const waiting = await makeCall(node)
    await openSession(t, node, waiting)
    t.equal(await upgradeStatus(node, `/realtime?token=${waiting.token}`), 401, 'used')
    t.equal(await upgradeStatus(node, `/realtime?token=${'x'.repeat(43)}`), 401, 'never issued')
    t.equal(await upgradeStatus(node, '/realtime?token=%00..'), 401, 'no token at all')
    t.equal(await upgradeStatus(node, '/realtime'), 401, 'missing')
    const expired = await makeCall(node)
    for (const key of await node.redis.keys('patchbay:session-token:*')) {
      t.ok((await node.redis.ttl(key)) <= 600 && (await node.redis.ttl(key)) > 300, 'a token lives ten minutes')
      await node.redis.del(key)
    }
    t.equal(await upgradeStatus(node, `/realtime?token=${expired.token}`), 401, 'expired')
  })

  t.test('opens once when two clients use its token at the same time', async (t) => {
    const { token } = await makeCall(node)
    const statuses = await Promise.all(Array.from({ length: 8 }, () => upgradeStatus(node, `/realtime?token=${token}`)))
    t.same(statuses.sort(), [101, ...Array(7).fill(401)])
  })

  t.test('answers malformed input with an error and goes on', async (t) => {
    const client = await openSession(t, node, await makeCall(node))
    const bad: [string | Buffer, string][] = [
      [Buffer.alloc(FRAME_BYTES + 1), 'odd_audio'],
      [Buffer.alloc(FRAME_BYTES * 5 + 2), 'long_audio'],
      [Buffer.alloc(500_000), 'long_audio'],
      ['{"type":"text"', 'malformed_message'],
      ['[]', 'malformed_message'],
      ['', 'malformed_message'],
      ['{"type":"shout"}', 'unknown_message'],
      ['{"type":"__proto__"}', 'unknown_message'],
      ['{"type":"text","text":""}', 'invalid_message'],
      ['{"type":"text","text":7}', 'invalid_message'],
      [`{"type":"text","text":"${'x'.repeat(5000)}"}`, 'invalid_message'],
      ['{"type":"dtmf","digit":"12"}', 'invalid_message'],
      ['{"type":"audio.played","id":-1}', 'invalid_message'],
      ['{"type":"audio.played","id":1e300}', 'invalid_message'],
    ]
    for (const [data] of bad) client.socket.send(data)
    client.send({ type: 'text', text: 'still there' })
    await client.got('transcript', { text: '2: still there' })
    t.same(
      client.messages.filter(({ type }) => type === 'error').map(({ code }) => code),
      bad.map(([, code]) => code),
    )
    client.socket.send(Buffer.alloc(FRAME_BYTES * 5))
    await until(
      () => client.audioBytes === FRAME_BYTES * 5,
      () => '100 ms in one message',
    )
  })

  t.test('drops what a client sends over 200 messages a second, then closes it with 1008', async (t) => {
    const waiting = await makeCall(node)
    const client = await openSession(t, node, waiting)
    const frame = Buffer.alloc(2)
    const flood = setInterval(() => {
      for (let i = 0; i < 100 && client.socket.readyState === client.socket.OPEN; i++) client.socket.send(frame)
    }, 10)
    t.teardown(() => clearInterval(flood))
    await client.got('error', { code: 'too_many_messages' })
    t.equal(client.closeCode, undefined, 'it is warned first')
    t.match(await client.got('session.ended'), { reason: 'policy_violation' })
    t.equal(await client.closed(), 1008)
    t.match((await endedCall(node, waiting)).call, { status: 'completed', end_reason: 'policy_violation' })
  })

  t.test('takes no more audio than a caller can speak', async (t) => {
    const client = await openSession(t, node, await makeCall(node))
    const startMs = performance.now()
    const isRefused = () => client.messages.some(({ code }) => code === 'fast_audio')
    while (!isRefused()) {
      for (let i = 0; i < 100; i++) client.socket.send(Buffer.alloc(FRAME_BYTES * 5))
      await until(isRefused, undefined, 2_000).catch(() => 'the machine took as long as the audio lasts')
    }
    client.send({ type: 'text', text: 'done' })
    await client.got('transcript', { text: '2: done' })
    const spokenMs = performance.now() - startMs
    const mostBytes = (FRAME_BYTES / 20) * (3_000 + 1.1 * spokenMs)
    t.ok(client.audioBytes <= mostBytes, `${client.audioBytes} bytes came back in ${spokenMs} ms`)
  })

  t.test('ends when the client closes or loses its connection', async (t) => {
    const leaving = await makeCall(node)
    const leaver = await openSession(t, node, leaving)
    leaver.socket.close()
    t.match((await endedCall(node, leaving)).call, { status: 'completed', end_reason: 'caller_hangup' })

    const breaking = await makeCall(node)
    const breaker = await openSession(t, node, breaking)
    breaker.socket.terminate()
    t.match((await endedCall(node, breaking)).call, {
      status: 'completed',
      end_reason: 'connection_lost',
      disposition: 'hung_up',
    })
  })

  t.test('ends within 15 s when the client vanishes without a word', { timeout: 600_000 }, async (t) => {
    const waiting = await makeCall(node)
    const client = await openSession(t, node, waiting)
    const tookMs = ownTime(t)
    // It reads nothing any more, so no ping is answered, as if its machine were gone.
    ;(client.socket as unknown as { _socket: { pause(): void } })._socket.pause()
    await until(
      async () => (await readCall(node, waiting)).call.ended_at !== null,
      () => 'the end of the call',
      100_000,
    )
    t.ok(tookMs() < 15_000, `after ${tookMs()} ms`)
    t.equal((await readCall(node, waiting)).call.end_reason, 'connection_lost')
  })

  t.test('survives a reader that is too slow for a while, and skips the audio it missed', async (t) => {
    const waiting = await makeCall(node)
    const client = await openSession(t, node, waiting)
    const raw = (client.socket as unknown as { _socket: { pause(): void; resume(): void } })._socket
    raw.pause()
    for (let i = 0; i < FLOODS; i++) client.send({ type: 'text', text: 'flood' })
    client.send({ type: 'text', text: 'after the flood' })
    await until(async () => (await readCall(node, waiting)).turns.some(({ text }) => text.includes('after the flood')))
    raw.resume()
    await client.got('transcript', { text: '2: after the flood' })
    t.ok(client.audioBytes < FLOODS * 480_000, `${client.audioBytes} of ${FLOODS * 480_000} bytes came`)
  })

  t.test('ends as the agent says', async (t) => {
    const waiting = await makeCall(node)
    const client = await openSession(t, node, waiting)
    client.send({ type: 'text', text: 'hang up' })
    t.match(await client.got('session.ended'), { reason: 'agent_hangup' })
    t.match((await endedCall(node, waiting)).call, { status: 'completed', end_reason: 'agent_hangup' })
  })

  t.test('of a conversation that fails is ended alone', async (t) => {
    const [failing, other] = [await makeCall(node), await makeCall(node)]
    const client = await openSession(t, node, failing)
    const bystander = await openSession(t, node, other)
    client.send({ type: 'text', text: 'throw' })
    t.match(await client.got('session.ended'), { reason: 'error' })
    t.match((await endedCall(node, failing)).call, { status: 'failed', error: 'Internal server error' })
    bystander.send({ type: 'text', text: 'hello' })
    await bystander.got('transcript', { text: '2: hello' })
  })

  t.test('of an agent that no worker can run fails with the reason', async (t) => {
    const waiting = await makeCall(node, 'refuse')
    const client = new RealtimeClient(node, waiting.token)
    t.match(await client.got('session.ended'), { reason: 'error' })
    const { call } = await endedCall(node, waiting)
    t.match(call, { status: 'failed', end_reason: 'error', answered_at: null })
    t.equal(call.error, 'Provider "nobody" is not installed')
  })
})
