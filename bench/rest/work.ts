import { type Static, Type } from 'typebox'
import { createAccessTokens } from '../../api/auth/access-token.ts'
import { ACCESS_COOKIE, readCookie } from '../../api/auth/cookies.ts'
import { systemClock } from '../../runtime/lib/clock.ts'

/** What every server of the benchmark does for a request, so that only the frameworks differ. */

export const SECRET = 'bench-secret-bench-secret-bench-secret'
export const PATH_WITHOUT_DATABASE = '/bench/agents'

export const AgentInput = Type.Object({
  agent_name: Type.String({ minLength: 1, maxLength: 200 }),
  system_prompt: Type.String({ maxLength: 100_000 }),
  first_message: Type.Optional(Type.String({ maxLength: 10_000 })),
  temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
  LLM_provider: Type.Optional(Type.String({ maxLength: 64 })),
  LLM_model: Type.Optional(Type.String({ maxLength: 200 })),
})

export const AgentOutput = Type.Object({
  agent_id: Type.String(),
  owner: Type.String(),
  agent_name: Type.String(),
  system_prompt: Type.String(),
  first_message: Type.String(),
  temperature: Type.Number(),
  LLM_provider: Type.String(),
  LLM_model: Type.String(),
  phone_numbers: Type.Array(Type.String()),
  created_at: Type.String(),
})

export const AGENT = {
  agent_name: 'Front desk',
  system_prompt: 'You answer for the Hotel Aurora. Breakfast is served from seven to ten. Check-out is at eleven.',
  first_message: 'Hotel Aurora, good morning!',
  temperature: 0.7,
  LLM_provider: 'offline',
  LLM_model: 'rules',
}

export function answerTo(body: Static<typeof AgentInput>, userId: string): Static<typeof AgentOutput> {
  return {
    agent_id: '0197f3a2-7c1e-7000-8000-000000000003',
    owner: userId,
    agent_name: body.agent_name,
    system_prompt: body.system_prompt,
    first_message: body.first_message ?? '',
    temperature: body.temperature ?? 0.7,
    LLM_provider: body.LLM_provider ?? 'offline',
    LLM_model: body.LLM_model ?? 'rules',
    phone_numbers: ['+14155550100'],
    created_at: '2026-01-31T09:00:00.000Z',
  }
}

const tokens = createAccessTokens(SECRET, 3600, systemClock)

/** The user of a Cookie header. Signatures are verified once and remembered, for every server alike. */
export function userOf(cookies: string): Promise<{ sub: string }> | { sub: string } {
  return tokens.verify(readCookie(cookies, ACCESS_COOKIE))
}

/** Tells the parent the port, answers its questions for the CPU time used, and ends with it. */
export function serveParent(port: number): void {
  process.send?.({ port })
  process.on('message', () => process.send?.({ cpu: process.cpuUsage() }))
  process.on('disconnect', () => process.exit(0))
}
