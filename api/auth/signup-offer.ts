import { Type } from 'typebox'
import { hasUsers } from '../../store/instance.ts'
import { defineRoute } from '../route.ts'
import { FORWARDED, maySignUp } from './signup-policy.ts'

const signupOffer = defineRoute({
  method: 'GET',
  path: '/auth/signup',
  auth: 'none',
  role: 'none',
  success: {
    status: 200,
    schema: Type.Object({
      open: Type.Boolean({ description: 'Whoever asks may sign up without an invitation.' }),
      first: Type.Boolean({
        description: 'There is no user yet; with the embedded default the first one runs the installation.',
      }),
    }),
  },
  tag: 'Authentication',
  summary: 'Whether whoever asks may sign up',
  examples: { success: { open: true, first: true } },
  headers: [...FORWARDED],
  handler: async (request, services) => {
    const isLocal = request.isLocal && !FORWARDED.some((header) => request.header(header) !== '')
    const [open, some] = await Promise.all([maySignUp(services, { email: '', isLocal }), hasUsers(services.store)])
    return { open, first: !some }
  },
})

export const signupOfferRoutes = [signupOffer]
