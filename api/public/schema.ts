import { Type } from 'typebox'
import { SessionTokenBody } from '../calls/schema.ts'

/** What a page is given that may talk to an agent: one session, and what to call the agent. */
export const PublicSessionBody = Type.Object({
  ...SessionTokenBody.properties,
  agent_name: Type.String(),
  language: Type.String({ description: 'What the agent speaks: a language tag, or `multi`.' }),
})
