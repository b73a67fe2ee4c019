import type { KeyScope } from '../../../store/schema.ts'

/**
 * Who may call each endpoint, written out by hand from the specification and the decisions beside it: `anyone`, any `user`
 * who is logged in, the least role in the workspace, and the scope an API key needs where one may call at all. The routes'
 * own declarations are compared with this, and what really happens too.
 */
type Right = 'anyone' | 'user' | 'operator' | `${Role}${'' | ` or key with ${KeyScope}`}`
type Role = 'member' | 'developer' | 'admin'

export const RIGHTS: Readonly<Record<string, Right>> = {
  'POST /auth/signup': 'anyone',
  'POST /auth/login': 'anyone',
  'POST /auth/refresh': 'anyone',
  'POST /auth/logout': 'anyone',
  'GET /auth/me': 'user',
  'POST /workspaces': 'user',
  'GET /workspaces': 'user',
  'POST /workspaces/{workspace_id}/switch': 'member',
  'PATCH /workspaces/{workspace_id}': 'admin',
  'GET /workspaces/{workspace_id}/members': 'member',
  'POST /workspaces/{workspace_id}/invite': 'admin',
  'DELETE /workspaces/{workspace_id}/members/{user_id}': 'admin',
  'DELETE /workspaces/{workspace_id}': 'admin',
  'GET /agents': 'member or key with read',
  'GET /agents/{agent_id}': 'member or key with read',
  'POST /agents': 'developer or key with agents',
  'PUT /agents/{agent_id}': 'developer or key with agents',
  'DELETE /agents/{agent_id}': 'admin',
  'POST /api-keys': 'admin',
  'GET /api-keys': 'admin',
  'POST /api-keys/{id}/rotate': 'admin',
  'DELETE /api-keys/{id}': 'admin',
  'GET /calls/generate-token': 'member or key with calls',
  'GET /calls/logs': 'member or key with read',
  'GET /calls/{call_log_id}': 'member or key with read',
  'POST /calls/outbound_call': 'member or key with calls',
  'POST /calls/{call_log_id}/hangup': 'member or key with calls',
  'GET /calls/export-csv': 'member or key with read',
  'GET /calls/{call_log_id}/recording': 'member or key with read',
  'GET /files/{link}': 'anyone',
  'POST /batch/upload': 'developer or key with batches',
  'POST /batch/{batch_id}/send': 'developer or key with batches',
  'GET /batch/{batch_id}': 'member or key with read',
  'GET /batch': 'member or key with read',
  'GET /batch/{batch_id}/items': 'member or key with read',
  'DELETE /batch/{batch_id}': 'developer or key with batches',
  'POST /agents/{agent_id}/upload': 'developer or key with agents',
  'GET /agents/{agent_id}/documents': 'member or key with read',
  'DELETE /agents/{agent_id}/documents/{document_id}': 'developer or key with agents',
  'POST /agents/{agent_id}/query': 'member or key with read',
  'POST /chats/interaction': 'member or key with calls',
  'GET /chats/logs': 'member or key with read',
  'GET /chats/{chat_id}': 'member or key with read',
  'POST /phone-numbers': 'developer or key with numbers',
  'POST /phone-numbers/purchase': 'developer or key with numbers',
  'GET /phone-numbers': 'member or key with numbers',
  'GET /phone-numbers/{phone_number}': 'member or key with numbers',
  'PATCH /phone-numbers/{phone_number}': 'developer or key with numbers',
  'DELETE /phone-numbers/{phone_number}': 'developer or key with numbers',
  'POST /trunks': 'developer or key with numbers',
  'GET /trunks': 'member or key with numbers',
  'GET /trunks/{trunk_id}': 'member or key with numbers',
  'PATCH /trunks/{trunk_id}': 'developer or key with numbers',
  'DELETE /trunks/{trunk_id}': 'developer or key with numbers',
  'GET /reports/dashboard': 'member or key with read',
  'GET /reports/call-summary': 'member or key with read',
  'GET /reports/disposition': 'member or key with read',
  'GET /reports/workload': 'member or key with read',
  'POST /telephony/{provider}/{event}': 'anyone',
  'GET /health': 'anyone',
  'GET /ready': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /docs': 'anyone',
  'GET /docs/{file}': 'anyone',
}

export interface Rights {
  role: 'none' | Role
  /** The scope an API key needs; undefined where none may call. */
  scope: KeyScope | undefined
  /** Whether anybody may call, without credentials. */
  isOpen: boolean
}

/** Throws for an endpoint that is not listed. */
export function rightsOf({ method, path }: { method: string; path: string }): Rights {
  const right = RIGHTS[`${method} ${path}`]
  if (right === undefined) throw new Error(`Write into ${import.meta.filename} who may call ${method} ${path}`)
  const [who = '', scope] = right.split(' or key with ')
  const isOfWorkspace = who === 'member' || who === 'developer' || who === 'admin'
  return {
    role: isOfWorkspace ? (who as Role) : 'none',
    scope: scope as KeyScope | undefined,
    isOpen: who === 'anyone',
  }
}
