import { rolloutRoutes } from './agents/rollout.ts'
import { agentRoutes } from './agents/routes.ts'
import { versionRoutes } from './agents/versions.ts'
import { apiKeyRoutes } from './api-keys/routes.ts'
import { accountRoutes } from './auth/account-routes.ts'
import { authRoutes } from './auth/routes.ts'
import { batchPreviewRoutes } from './batches/preview.ts'
import { batchRoutes } from './batches/routes.ts'
import { analysisRoutes } from './calls/analyze.ts'
import { outboundRoutes } from './calls/outbound.ts'
import { recordingRoutes } from './calls/recording.ts'
import { callRoutes } from './calls/routes.ts'
import { signallingRoutes } from './calls/signalling.ts'
import { turnRoutes } from './calls/turns.ts'
import { campaignActions } from './campaigns/actions.ts'
import { campaignRoutes } from './campaigns/routes.ts'
import { chatRoutes } from './chats/routes.ts'
import { doNotCallRoutes } from './do-not-call/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { extensionRoutes } from './extensions/routes.ts'
import { knowledgeRoutes } from './knowledge/routes.ts'
import { mcpRoutes } from './mcp/routes.ts'
import { maintenanceRoutes } from './operator/maintenance.ts'
import { modelRoutes } from './operator/models.ts'
import { operatorNumberRoutes } from './operator/numbers.ts'
import { operatorRoutes } from './operator/routes.ts'
import { trunkHostRoutes } from './operator/trunk-hosts.ts'
import { workerPoolRoutes } from './operator/worker-pools.ts'
import { phoneNumberRoutes } from './phone-numbers/routes.ts'
import { auditLogRoutes } from './privacy/audit-log.ts'
import { privacyRoutes } from './privacy/routes.ts'
import { prospectListRoutes } from './prospects/lists.ts'
import { prospectPreviewRoutes } from './prospects/preview.ts'
import { prospectRoutes } from './prospects/routes.ts'
import { prospectUploadRoutes } from './prospects/uploads.ts'
import { providerKeyRoutes } from './providers/key-routes.ts'
import { ownKeyRoutes } from './providers/own-key-routes.ts'
import { providerRoutes } from './providers/routes.ts'
import { publicRoutes } from './public/routes.ts'
import { reportRoutes } from './reports/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import type { AnyRoute } from './route.ts'
import { supervisionRoutes } from './supervision/routes.ts'
import { systemRoutes } from './system/routes.ts'
import { telephonyRoutes } from './telephony/routes.ts'
import { markRoutes } from './tests/marks.ts'
import { testOfCallRoutes } from './tests/of-call.ts'
import { testRoutes } from './tests/routes.ts'
import { testRunRoutes } from './tests/runs.ts'
import { toolTryRoutes } from './tools/try.ts'
import { trunkRoutes } from './trunks/routes.ts'
import { voiceRoutes } from './voices/routes.ts'
import { webhookRoutes } from './webhooks/routes.ts'
import { workspaceRoutes } from './workspaces/routes.ts'

/** Every endpoint, one list a noun. The OpenAPI document is made from this and nothing else. */
export const routes: readonly AnyRoute[] = [
  ...authRoutes,
  ...accountRoutes,
  ...workspaceRoutes,
  ...agentRoutes,
  ...versionRoutes,
  ...rolloutRoutes,
  ...apiKeyRoutes,
  ...requestRoutes,
  ...callRoutes,
  ...outboundRoutes,
  ...recordingRoutes,
  ...signallingRoutes,
  ...turnRoutes,
  ...analysisRoutes,
  ...supervisionRoutes,
  ...batchPreviewRoutes,
  ...batchRoutes,
  ...campaignRoutes,
  ...campaignActions,
  ...prospectListRoutes,
  ...prospectPreviewRoutes,
  ...prospectUploadRoutes,
  ...prospectRoutes,
  ...doNotCallRoutes,
  ...knowledgeRoutes,
  ...chatRoutes,
  ...testRoutes,
  ...testRunRoutes,
  ...markRoutes,
  ...testOfCallRoutes,
  ...phoneNumberRoutes,
  ...toolTryRoutes,
  ...trunkRoutes,
  ...providerRoutes,
  ...ownKeyRoutes,
  ...voiceRoutes,
  ...webhookRoutes,
  ...eventRoutes,
  ...extensionRoutes,
  ...reportRoutes,
  ...privacyRoutes,
  ...auditLogRoutes,
  ...publicRoutes,
  ...operatorRoutes,
  ...maintenanceRoutes,
  ...workerPoolRoutes,
  ...operatorNumberRoutes,
  ...trunkHostRoutes,
  ...providerKeyRoutes,
  ...modelRoutes,
  ...telephonyRoutes,
  ...mcpRoutes(() => routes),
  ...systemRoutes(() => routes),
]
