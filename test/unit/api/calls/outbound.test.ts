import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { startTestApi, type TestUser } from '../../../support/instance/api.ts'
import { callWhen, isOver, linkWorker, startPhone } from '../../../support/phone/phone.ts'
import { scriptedConversation } from '../../../support/phone/scripted-conversation.ts'
import { waitUntil } from '../../../support/world/wait-until.ts'

t.test('outbound calls', async (t) => {
  // A busy machine takes its time to place a call.
  const api = await startTestApi(t, { env: { PATCHBAY_QUEUE_WAIT_MS: '120000' } })
  const user = await api.signUp()
  const phone = await startPhone(api, user)
  const dialOf = (of: TestUser, from: string, to: string, more: Record<string, unknown> = {}) =>
    of.client.post('/calls/outbound_call', {
      body: { agent_phone_number: from, phone_number_to_dial: to, ...more },
    })
  const dial = (to: string, more?: Record<string, unknown>) => dialOf(user, phone.number, to, more)

  /** The types of the events of a call that is over. */
  const eventsOf = async (callId: string, of = user): Promise<string[]> => {
    for (;;) {
      const { body } = await of.client.get(`/calls/${callId}/events`)
      const types: string[] = body.items.map(({ type }: { type: string }) => type)
      if (types.includes('ended')) return types
      await sleep(50)
    }
  }

  await t.test('end without a voice worker, saying so', async (t) => {
    const without = await startTestApi(t, { env: { PATCHBAY_QUEUE_WAIT_MS: '1000' } })
    const lonely = await without.signUp()
    const { number } = await startPhone(without, lonely)
    const { status, body } = await dialOf(lonely, number, '+14155552671')
    t.equal(status, 201)
    t.match(body, { status: 'queued', direction: 'outbound', call_type: 'phone', to_number: '+14155552671' })
    t.match(await callWhen(lonely, body.call_log_id, isOver), {
      status: 'failed',
      end_reason: 'no_capacity',
      disposition: 'failed',
      error: 'No voice worker is free',
    })
    t.same(await eventsOf(body.call_log_id, lonely), ['queued', 'ended'])
  })

  /** What the worker was told of calls, in its order. */
  const told: string[] = []
  await linkWorker(t, api, {
    warm: (callId) => void told.push(`warm ${callId}`),
    openConversation: (open, port) => {
      told.push(`open ${open.callId}`)
      return scriptedConversation(open, port)
    },
  })

  /** As the event `answered` has it, once it is there. */
  const leftOut = async (callId: string): Promise<string[] | undefined> => {
    let answered: { left_out?: string[] } | undefined
    await waitUntil(
      async () => {
        const { body } = await user.client.get(`/calls/${callId}/events`)
        answered = body.items.find(({ type }: { type: string }) => type === 'answered')
        return answered !== undefined
      },
      () => 'the event of the answer',
    )
    return answered?.left_out
  }

  await t.test('go from queued over ringing and in_progress to their one end', async (t) => {
    const { body } = await dial('+1 (415) 555-2671', { dynamic_variables: { name: 'Bob', company: 'Acme' } })
    t.match(body, { status: 'queued', to_number: '+14155552671', from_number: phone.number })
    const live = await callWhen(user, body.call_log_id, ({ status, transcript }) => {
      return status === 'in_progress' && (transcript as unknown[]).length > 0
    })
    t.equal(live.transcript[0].text, 'Hello Bob, this is Ada.')
    t.equal(await leftOut(body.call_log_id), undefined, 'each name has its value')
    t.same(
      told.filter((one) => one.endsWith(body.call_log_id)),
      [`warm ${body.call_log_id}`, `open ${body.call_log_id}`],
      'connections are opened before the phone is picked up',
    )
    t.equal((await user.client.post(`/calls/${body.call_log_id}/hangup`)).status, 200)
    const ended = await callWhen(user, body.call_log_id, isOver)
    t.match(ended, { status: 'completed', end_reason: 'api_hangup', disposition: 'hung_up' })
    t.ok(ended.answered_at && ended.ended_at && ended.duration >= 0)
    t.match(
      (await user.client.post(`/calls/${body.call_log_id}/hangup`)).body,
      ended,
      'hanging up again changes nothing',
    )
    const events = await eventsOf(body.call_log_id)
    t.same(
      events.filter((type) => ['queued', 'ringing', 'answered', 'ended'].includes(type)),
      ['queued', 'ringing', 'answered', 'ended'],
    )
    t.ok(events.includes('hung_up'), 'and who ended it')
  })

  const ends: Record<string, Record<string, unknown>> = {
    '+14155559901': { status: 'busy', end_reason: 'busy', disposition: 'busy' },
    '+14155559903': { status: 'completed', end_reason: 'voicemail', disposition: 'voicemail' },
    '+14155559905': { status: 'failed', end_reason: 'rejected', disposition: 'rejected' },
    '+14155559906': { status: 'failed', end_reason: 'invalid_number', disposition: 'failed' },
    '+14155559907': { status: 'failed', end_reason: 'carrier_error', disposition: 'failed' },
  }
  for (const [number, end] of Object.entries(ends)) {
    await t.test(`to ${number} end as ${end.end_reason}`, async (t) => {
      const { body } = await dial(number)
      t.match(await callWhen(user, body.call_log_id, isOver), end)
      const events = await eventsOf(body.call_log_id)
      t.equal(events[0], 'queued')
      t.equal(events.filter((type) => type === 'ended').length, 1)
      t.ok(events.filter((type) => type === 'queued' || type === 'ringing').length <= 2, 'each once')
    })
  }

  await t.test('can be hung up while they ring', async (t) => {
    const { body } = await dial('+14155559902')
    await callWhen(user, body.call_log_id, ({ status }) => status === 'ringing')
    t.equal((await user.client.post(`/calls/${body.call_log_id}/hangup`)).status, 200)
    const ended = await callWhen(user, body.call_log_id, isOver)
    t.match(ended, { status: 'canceled', end_reason: 'api_hangup', answered_at: null })
  })

  await t.test('are refused with the specified messages', async (t) => {
    const cases: [Record<string, unknown>, number, unknown][] = [
      [{}, 400, 'Invalid phone number format'],
      [{ agent_phone_number: phone.number }, 400, 'Invalid phone number format'],
      [{ agent_phone_number: phone.number, phone_number_to_dial: '12' }, 400, 'Invalid phone number format'],
      [{ agent_phone_number: '+14155550000', phone_number_to_dial: '+14155552671' }, 404, 'Agent not found'],
    ]
    for (const [body, status, detail] of cases) {
      t.match(await user.client.post('/calls/outbound_call', { body }), { status, body: { detail } })
    }
    const wrong = {
      agent_phone_number: phone.number,
      phone_number_to_dial: '+14155552671',
      dynamic_variables: { a: 1 },
    }
    const { status, body } = await user.client.post('/calls/outbound_call', { body: wrong })
    t.equal(status, 422)
    t.same(
      body.detail.map(({ loc }: { loc: string[] }) => loc.join('.')),
      ['body.dynamic_variables.a'],
    )
  })

  await t.test('say in their log which names of the agent’s texts have no value', async (t) => {
    const { body } = await dial('+14155552671', { dynamic_variables: { name: 'Bob' } })
    await callWhen(user, body.call_log_id, ({ status }) => status === 'in_progress')
    await user.client.post(`/calls/${body.call_log_id}/hangup`)
    await callWhen(user, body.call_log_id, isOver)
    t.same(await leftOut(body.call_log_id), ['company'])
  })

  await t.test('take variables up to their bounds, and no text that they make too long', async (t) => {
    const names = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, '']))
    // Busy: whoever is called costs the other tests nothing.
    const tried = (dynamic_variables: Record<string, string>, from = phone.number) =>
      dialOf(user, from, '+14155559901', { dynamic_variables })
    const fault = (msg: RegExp) => ({ status: 422, body: { detail: [{ loc: ['body', 'dynamic_variables'], msg }] } })
    t.match(await tried(names(201)), fault(/200/))
    t.match(await tried({ a: 'ä'.repeat(32_768) }), fault(/must not have more than 64 KiB in all/))
    t.equal((await tried({ ...names(199), a: 'ä'.repeat(20_000) })).status, 201)

    const placed = async () => (await user.client.get('/calls/logs')).body.total
    const before = await placed()
    const prompted = await startPhone(api, user, { system_prompt: '{{a}}'.repeat(50) })
    t.match(await tried({ a: 'x'.repeat(30_000) }, prompted.number), {
      status: 400,
      body: { detail: /system_prompt.*KiB/ },
    })
    const spoken = await startPhone(api, user, { first_message: '{{a}} {{a}} {{a}}' })
    t.match(await tried({ a: 'x'.repeat(30_000) }, spoken.number), {
      status: 400,
      body: { detail: /first_message.*KiB/ },
    })
    t.equal(await placed(), before, 'no call is made')
    t.equal((await tried({ a: 'x'.repeat(1_000) }, spoken.number)).status, 201)
  })

  await t.test('are nobody else’s business', async (t) => {
    const other = await api.signUp()
    const { body } = await dial('+14155559901')
    for (const path of ['hangup', 'recording']) {
      const method = path === 'hangup' ? 'POST' : 'GET'
      const answer = await other.client.request(method, `/calls/${body.call_log_id}/${path}`)
      t.match(answer, { status: 404, body: { detail: 'Call log not found' } }, path)
    }
    const theirs = { agent_phone_number: phone.number, phone_number_to_dial: '+14155552671' }
    t.match(await other.client.post('/calls/outbound_call', { body: theirs }), { body: { detail: 'Agent not found' } })
    t.match(await user.client.get(`/calls/${body.call_log_id}/recording`), { body: { detail: 'Recording not found' } })
  })

  await t.test('a queued call that nobody has begun is canceled at once', async (t) => {
    const { body } = await user.client.get('/calls/generate-token', { query: { phone: phone.number } })
    const { body: ended } = await user.client.post(`/calls/${body.call_log_id}/hangup`)
    t.match(ended, { status: 'canceled', end_reason: 'api_hangup' })
  })
})
