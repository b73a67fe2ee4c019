import { Type } from 'typebox'
import { LookBody } from '../agents/look.ts'
import { SessionTokenBody } from '../calls/schema.ts'
import { Id } from '../schema.ts'

const Named = {
  agent_name: Type.String(),
  language: Type.String({ description: 'What the agent speaks: a language tag, or `multi`.' }),
}

/** What a page knows of a public agent before a call. */
export const PublicAgentBody = Type.Object({
  agent_id: Id,
  ...Named,
  look: LookBody,
})

/** What a page is given that may talk to an agent: one session, and what to call the agent. */
export const PublicSessionBody = Type.Object({
  ...SessionTokenBody.properties,
  ...Named,
})
