import { Type } from 'typebox'
import { hasUsers } from '../../store/accounts/instance.ts'
import { defineRoute } from '../route.ts'
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
      first: Type.Boolean({
        description: 'There is no user yet; the first one runs the installation.',
      }),
    }),
  },
  tag: 'Authentication',
  summary: 'Whether the caller may sign up',
  examples: { success: { open: true, setup_token: false, first: true } },
  headers: [...ORIGIN_HEADERS],
  handler: async (request, services) => {
    const newcomer = { email: '', isLocal: isFromHere(request, services) }
    const [open, some] = await Promise.all([maySignUp(services, newcomer), hasUsers(services.store)])
    return { open, setup_token: !open && !some, first: !some }
  },
})

export const signupOfferRoutes = [signupOffer]
