import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { hasUsers } from '../../store/accounts/instance.ts'
import { findInvitation } from '../../store/accounts/one-time-links.ts'
import { defineRoute } from '../route.ts'
import { Nullable } from '../schema.ts'
import { RoleName } from '../workspaces/schema.ts'
import { isFromHere, maySignUp, ORIGIN_HEADERS } from './signup-policy.ts'

const signupOffer = defineRoute({
  method: 'GET',
  path: '/auth/signup',
  auth: 'none',
  role: 'none',
  success: {
    status: 200,
    schema: Type.Object({
      open: Type.Boolean({ description: 'The caller may sign up without an invitation.' }),
      setup_token: Type.Boolean({ description: 'The caller may sign up with the setup token, as the first user.' }),
      sso: Nullable(
        Type.String({ description: 'What the identity provider of `/auth/sso` is called; null: there is none.' }),
      ),
      first: Type.Boolean({
        description: 'There is no user yet; the first one runs the installation.',
      }),
    }),
  },
  tag: 'Authentication',
  summary: 'Whether the caller may sign up',
  examples: { success: { open: true, setup_token: false, sso: null, first: true } },
  headers: [...ORIGIN_HEADERS],
  handler: async (request, services) => {
    const newcomer = { email: '', isLocal: isFromHere(request, services) }
    const [open, some] = await Promise.all([maySignUp(services, newcomer), hasUsers(services.store)])
    return { open, setup_token: !open && !some, sso: services.identityProvider?.name ?? null, first: !some }
  },
})

const invitation = defineRoute({
  method: 'POST',
  path: '/auth/invitation',
  auth: 'none',
  role: 'none',
  body: Type.Object({ token: Type.String({ maxLength: 100, description: 'What the link carries.' }) }),
  success: {
    status: 200,
    schema: Type.Object({
      email: Type.String({ description: 'The address that signs up by it; empty: any.' }),
      workspace_name: Nullable(Type.String()),
      role: Nullable(RoleName),
    }),
  },
  errors: ['link_invalid'],
  tag: 'Authentication',
  summary: 'What an invitation link leads to; the link is not used up',
  examples: {
    body: { token: 'Qm9vbGVhbiBsb2dpYyBpcyBhbGdlYnJhIG9mIHR3b' },
    success: { email: 'grace@example.com', workspace_name: 'Analytical Engines', role: 'developer' },
  },
  handler: async ({ body }, { store, clock }) => {
    const found = await findInvitation(store.global, body.token, clock.nowMs())
    if (found === undefined) throw new PatchbayError('link_invalid')
    return found
  },
})

export const signupOfferRoutes = [signupOffer, invitation]
