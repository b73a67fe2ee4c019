import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { defineRoute, Reply } from '../route.ts'
import { webOf } from './web.ts'

const MAX_BODY_BYTES = 64 * 1024

const carrierEvent = defineRoute({
  method: 'POST',
  path: '/telephony/{provider}/{event}',
  auth: 'none',
  role: 'none',
  params: {
    provider: { description: 'The telephony plugin.', example: 'twilio' },
    event: {
      description: 'What happened: `voice` for an incoming call, others as the plugin names them.',
      example: 'voice',
    },
  },
  headers: 'all',
  success: { status: 200, schema: Type.String(), contentType: 'text/xml' },
  errors: ['not_found', 'forged_request', 'malformed_body', 'body_too_large'],
  tag: 'Telephony',
  summary: 'What a carrier tells of its calls',
  description:
    "For carriers alone, each in its own format: a request without the carrier's signature over the public address is refused. The answer is what the carrier reads: XML, or JSON where its plugin writes that. Their media streams arrive at `/telephony/{provider}/stream`.",
  handler: async (request, services) => {
    const { provider, event } = request.params
    const web = await webOf(services, provider)
    if (web === undefined) throw new PatchbayError('not_found')
    const body = (await request.rawBody.bytes(MAX_BODY_BYTES)).toString('utf8')
    const { target, signal } = request
    const query = new URLSearchParams(target.slice(target.indexOf('?') + 1))
    const header = (name: string) => request.header(name)
    const reply = await web.handle({ method: 'POST', event, target, query, header, body }, signal)
    return new Reply({
      status: reply.status,
      ...(reply.body === undefined ? {} : { body: reply.body }),
      headers: reply.contentType === undefined ? [] : [['content-type', reply.contentType]],
    })
  },
})

export const telephonyRoutes = [carrierEvent]
