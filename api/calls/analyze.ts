import { PatchbayError } from '../../runtime/lib/errors.ts'
import { askForAnalysis } from '../../store/calls/call-analyses.ts'
import { defineRoute } from '../route.ts'
import { Detail } from '../workspaces/schema.ts'
import { call_log_id, isOver, requireCall } from './one-call.ts'

const analyze = defineRoute({
  method: 'POST',
  path: '/calls/{call_log_id}/analyze',
  auth: 'jwt_or_key',
  role: 'developer',
  params: { call_log_id },
  success: { status: 200, schema: Detail },
  errors: ['call_log_not_found', 'call_not_over'],
  tag: 'Calls',
  summary: 'Analyse a call again',
  description: 'As its agent asks for it now. `call.analyzed` tells when it is done.',
  examples: { success: { detail: 'Analysis queued' } },
  handler: async ({ params, tenant }) => {
    const call = await requireCall(tenant, params.call_log_id)
    if (!isOver(call)) throw new PatchbayError('call_not_over')
    await askForAnalysis(tenant, call.id)
    return { detail: 'Analysis queued' }
  },
})

export const analysisRoutes = [analyze]
