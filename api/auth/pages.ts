import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { defineRoute, Reply } from '../route.ts'

const PAGES = ['reset', 'verify', 'signup']

/** Links by mail, or from the operator, lead here, and on to the console's page. A browser keeps the token behind `#`. */
export const accountPage = defineRoute({
  method: 'GET',
  path: '/account/{page}',
  auth: 'none',
  role: 'none',
  params: { page: { description: '`reset`, `verify` or `signup`.', example: 'reset' } },
  success: { status: 302, schema: Type.String(), contentType: 'text/html' },
  errors: ['not_found'],
  tag: 'Authentication',
  summary: 'Where one-time links lead',
  handler: ({ params: { page } }) => {
    if (!PAGES.includes(page)) throw new PatchbayError('not_found')
    return new Reply({ body: '', status: 302, headers: [['location', `/console/welcome/${page}`]] })
  },
})
