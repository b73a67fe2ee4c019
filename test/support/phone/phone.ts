import { pino } from 'pino'
import { uuidv7 } from 'uuidv7'
import type { OpenConversation } from '../../../runtime/call/link/linked-conversation.ts'
import { connectLinks } from '../../../runtime/call/link/worker-end.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import type { TestApi, TestUser } from '../instance/api.ts'
import type { Teardown } from '../instance/services.ts'
import { scriptedConversation } from './scripted-conversation.ts'

/** What an outbound call needs: an agent with a number of the simulated carrier, and a worker to speak for it. */
export interface Phone {
  agentId: string
  number: string
}

let numbers = 0

export async function startPhone(
  api: TestApi,
  user: TestUser,
  agent: Record<string, unknown> = {},
  provider = 'sim',
): Promise<Phone> {
  const { body } = await user.client.post('/agents', {
    body: {
      agent_name: 'Ada',
      system_prompt: 'You work for {{company}}. We open at nine.',
      first_message: 'Hello {{name}}, this is Ada.',
      ...agent,
    },
  })
  const number = `+1415555${String(1000 + numbers++)}`
  await api.store
    .tenant(user.workspaceId)
    .db.insertInto('phone_numbers')
    .values({ phone_number: number, agent_id: body.agent_id, provider, trunk: null })
    .execute()
  return { agentId: body.agent_id, number }
}

/** Links a worker of this process to the api and waits until it is ready. Resolves with what stops it before the test's end. */
export async function linkWorker(
  t: Teardown,
  api: TestApi,
  options: {
    capacity?: number
    pool?: string
    openConversation?: OpenConversation
    warm?: (callId: string) => void
  } = {},
): Promise<{ stop(graceMs: number): Promise<void> }> {
  const links = connectLinks({
    urls: api.nodes.map((url) => url.replace(/^http/, 'ws')),
    token: api.config.linkToken,
    workerId: uuidv7(),
    capacity: options.capacity ?? 10,
    metricsUrl: 'http://127.0.0.1:1/metrics',
    ...(options.pool !== undefined && { pool: options.pool }),
    openConversation: options.openConversation ?? scriptedConversation,
    ...(options.warm && { warm: options.warm }),
    state: () => 'ready',
    clock: systemClock,
    random: Math.random,
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
  })
  t.teardown(() => links.stop(0))
  await links.welcomed
  return links
}

/** Reads the call until it is as wanted. */
export async function callWhen(
  user: TestUser,
  callLogId: string,
  wanted: (call: { status: string } & Record<string, unknown>) => boolean,
  timeoutMs = 300_000,
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field
): Promise<any> {
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    const { body } = await user.client.get(`/calls/${callLogId}`)
    if (wanted(body)) return body
    if (performance.now() > untilMs) throw new Error(`The call is still ${JSON.stringify(body)}`)
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
}

export const isOver = (call: { status: string }): boolean => !['queued', 'ringing', 'in_progress'].includes(call.status)
