import type { AnyRoute } from '../route.ts'

/** Short names of operations: what a generated client calls its functions. */

/** Where the rule below would say something clumsy. */
const NAMED: Readonly<Record<string, string>> = {
  'GET /auth/signup': 'getSignupOffer',
  'POST /auth/signup': 'signup',
  'POST /auth/login': 'login',
  'POST /auth/refresh': 'refreshSession',
  'POST /auth/logout': 'logout',
  'GET /auth/me': 'getMe',
  'GET /account/{page}': 'getAccountPage',
  'POST /auth/password': 'changePassword',
  'POST /auth/password/forgotten': 'requestPasswordReset',
  'POST /auth/password/reset': 'resetPassword',
  'POST /auth/email/verification': 'requestEmailVerification',
  'POST /auth/email/verify': 'verifyEmail',
  'GET /auth/sessions': 'listSessions',
  'DELETE /auth/sessions/{session_id}': 'endSession',
  'POST /auth/logout-everywhere': 'logoutEverywhere',
  'GET /auth/invitations': 'listMyInvitations',
  'POST /auth/invitations/{invitation_id}/accept': 'acceptInvitation',
  'DELETE /auth/invitations/{invitation_id}': 'declineInvitation',
  'POST /auth/delete-account': 'deleteAccount',
  'POST /workspaces/{workspace_id}/invite': 'inviteMember',
  'POST /voices/sample': 'speakVoiceSample',
  'GET /calls/generate-token': 'generateToken',
  'GET /calls/logs': 'listCalls',
  'POST /calls/outbound_call': 'placeCall',
  'GET /calls/export-csv': 'exportCalls',
  'GET /files/{link}': 'getFile',
  'GET /events': 'streamEvents',
  'GET /calls/{call_log_id}/events/live': 'streamCallEvents',
  'POST /calls/{call_log_id}/listen': 'listenToCall',
  'POST /webhooks/{webhook_id}/rotate-secret': 'rotateWebhookSecret',
  'POST /batch/upload': 'createBatch',
  'POST /batch': 'createBatchOfRows',
  'GET /batch': 'listBatches',
  'POST /api/v/upload/{uuid}/': 'uploadProspects',
  'POST /api/v/upload/{uuid}/rows/': 'uploadProspectRows',
  'POST /api/v/prospect/{uuid}/': 'createProspect',
  'GET /api/v/campaign/{slug}/prospects.csv': 'exportCampaignProspects',
  'POST /api/v/campaign/{slug}/test-call/': 'placeTestCall',
  'POST /operator/users/{user_id}/password-reset': 'resetUserPassword',
  'GET /do-not-call': 'listDoNotCall',
  'POST /do-not-call': 'addDoNotCall',
  'POST /do-not-call/upload': 'uploadDoNotCall',
  'DELETE /do-not-call/{phone_number}': 'removeDoNotCall',
  'POST /agents/{agent_id}/upload': 'uploadDocuments',
  'POST /chats/interaction': 'sendChatMessage',
  'GET /chats/logs': 'listChats',
  'POST /phone-numbers/purchase': 'purchasePhoneNumber',
  'GET /reports/dashboard': 'getDashboard',
  'GET /reports/call-summary': 'getCallSummary',
  'GET /reports/disposition': 'getDispositions',
  'GET /reports/workload': 'getWorkload',
  'POST /privacy/erase': 'erasePerson',
  'GET /audit-log': 'listAuditLog',
  'GET /audit-log/export-csv': 'exportAuditLog',
  'GET /operator/audit-log': 'listOperatorAuditLog',
  'GET /operator/audit-log/export-csv': 'exportOperatorAuditLog',
  'PATCH /auth/me': 'updateMe',
  'GET /operator/worker-pools': 'getWorkerPools',
  'PUT /operator/worker-pools': 'setWorkerPool',
  'DELETE /operator/worker-pools/{kind}/{key}': 'removeWorkerPool',
  'GET /operator/providers': 'listKeyedProviders',
  'PUT /operator/providers/{provider}/keys': 'setProviderKeys',
  'DELETE /operator/providers/{provider}/keys': 'removeProviderKeys',
  'GET /providers/keys': 'listOwnKeys',
  'PUT /providers/{provider}/keys': 'setOwnKeys',
  'DELETE /providers/{provider}/keys': 'removeOwnKeys',
  'POST /providers/{provider}/test': 'testOwnKeys',
  'GET /operator/models': 'listModels',
  'POST /operator/models': 'downloadModels',
  'POST /operator/providers/{provider}/test': 'testProviderKeys',
  'GET /maintenance': 'getMaintenance',
  'PUT /operator/maintenance': 'beginMaintenance',
  'DELETE /operator/maintenance': 'endMaintenance',
  'POST /operator/reload': 'reloadSettings',
  'GET /operator/security-log': 'listSecurityLog',
  'POST /telephony/{provider}/{event}': 'receiveCarrierWebhook',
  'GET /health': 'getHealth',
  'GET /ready': 'getReadiness',
  'GET /openapi.json': 'getOpenApi',
  'GET /docs': 'getDocs',
  'GET /docs/{file}': 'getDocsFile',
  'GET /client/v1/{file}': 'getClientFile',
  'GET /client/': 'listSdkPackages',
  'GET /client/{file}': 'getSdkPackage',
  'GET /widget.js': 'getWidget',
  'GET /asyncapi.json': 'getAsyncApi',
  'GET /talk/{agent_id}': 'getTalkPage',
  'GET /public/agents/{agent_id}': 'getPublicAgent',
  'POST /public/agents/{agent_id}/session': 'openPublicSession',
  'POST /mcp': 'callMcp',
  'POST /extensions/{extension_id}/password': 'rotateExtensionPassword',
  'POST /agents/{agent_id}/tools/try': 'tryAgentTool',
  'GET /api-keys/current': 'getCurrentApiKey',
  'GET /api/v/upload/{uuid}/rejects/': 'exportUploadRejects',
}

const VERBS = { GET: 'get', POST: 'create', PUT: 'replace', PATCH: 'update', DELETE: 'delete' } as const
const isParam = (segment: string | undefined): boolean => segment?.startsWith('{') ?? false

/** `GET /agents/{agent_id}` → `getAgent`, `GET /agents` → `listAgents`, `POST /batch/{batch_id}/send` → `sendBatch`. */
export function operationId({ method, path }: Pick<AnyRoute, 'method' | 'path'>): string {
  const named = NAMED[`${method} ${path}`]
  if (named !== undefined) return named
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v')
  const nouns = segments.filter((segment) => !isParam(segment))
  const last = segments.at(-1) ?? ''
  const owners = nouns.slice(0, -1).map(singular).map(capitals).join('')
  const noun = nouns.at(-1) ?? ''
  if (isParam(last)) return `${VERBS[method]}${owners}${capitals(singular(noun))}`
  const ofOne = isParam(segments.at(-2))
  if (method === 'POST' && ofOne && singular(noun) === noun) return `${lowered(capitals(noun))}${owners}`
  if (
    method === 'GET' &&
    (singular(noun) !== noun || !ofOne) &&
    noun !== 'settings' &&
    nouns.length <= segments.length
  ) {
    return `list${owners}${capitals(plural(noun))}`
  }
  if (method === 'POST') return `create${owners}${capitals(singular(noun))}`
  return `${VERBS[method]}${owners}${capitals(noun)}`
}

function singular(noun: string): string {
  if (noun === 'settings' || noun === 'status' || noun.endsWith('ss')) return noun
  return noun.replace(/ies$/, 'y').replace(/(?<!s)s$/, '')
}

function plural(noun: string): string {
  if (singular(noun) !== noun) return noun
  return noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`
}

function capitals(noun: string): string {
  const words = noun.split(/[^A-Za-z0-9]+/)
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}

function lowered(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}
