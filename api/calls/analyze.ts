import { PatchbayError } from '../../runtime/errors.ts'
import { askForAnalysis } from '../../store/call-analyses.ts'
import { callById } from '../../store/calls.ts'
import { defineRoute } from '../route.ts'
import { Detail } from '../workspaces/schema.ts'
import { callExample } from './schema.ts'

const analyze = defineRoute({
  method: 'POST',
  path: '/calls/{call_log_id}/analyze',
  auth: 'jwt_or_key',
  role: 'developer',
  params: {
    call_log_id: { description: 'The call.', notFound: 'call_log_not_found', example: callExample.call_log_id },
  },
  success: { status: 200, schema: Detail },
  errors: ['call_log_not_found', 'call_not_over'],
  tag: 'Calls',
  summary: 'Analyse a call again',
  description: 'As its agent asks for it now. `call.analyzed` tells when it is done.',
  examples: { success: { detail: 'Analysis queued' } },
  handler: async ({ params, tenant }) => {
    const call = await callById(tenant, params.call_log_id)
    if (call === undefined) throw new PatchbayError('call_log_not_found')
    if (['queued', 'ringing', 'in_progress'].includes(call.status)) throw new PatchbayError('call_not_over')
    await askForAnalysis(tenant, call.id)
    return { detail: 'Analysis queued' }
  },
})

export const analysisRoutes = [analyze]
