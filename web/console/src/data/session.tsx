import { useQuery, useQueryClient } from '@tanstack/react-query'
import { createContext, type ReactNode, useContext, useMemo } from 'react'
import { api, request } from './api.ts'
import type { Role, User, Workspace } from './types.ts'

interface Session {
  readonly user: User
  readonly workspaces: readonly Workspace[]
  /** The one that everything is done in. */
  readonly workspace: Workspace | undefined
  readonly role: Role
  readonly isOperator: boolean
  /** Whether the role in the workspace is this or a higher one. */
  may(role: Role): boolean
  /** Works in another workspace: everything shown is read anew. */
  enter(workspaceId: string): Promise<void>
}

const SessionContext = createContext<Session | undefined>(undefined)
const RANKS: Readonly<Record<Role, number>> = { member: 0, developer: 1, admin: 2 }

export function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('Nobody is signed in')
  return session
}

export function SessionProvider({ user, children }: { user: User; children: ReactNode }) {
  const queries = useQueryClient()
  const { data: workspaces } = useQuery({
    queryKey: ['workspaces'],
    queryFn: () => api<Workspace[]>('/workspaces'),
  })
  const { data: isOperator = false } = useQuery({
    queryKey: ['is-operator', user.id],
    queryFn: () =>
      request('/operator/settings').then(
        () => true,
        () => false,
      ),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const session = useMemo((): Session | undefined => {
    if (workspaces === undefined) return undefined
    const workspace = workspaces.find(({ workspace_id }) => workspace_id === user.current_workspace_id)
    const role = workspace?.role ?? 'member'
    return {
      user,
      workspaces,
      workspace,
      role,
      isOperator,
      may: (least) => RANKS[role] >= RANKS[least],
      async enter(workspaceId) {
        await api(`/workspaces/${workspaceId}/switch`, { method: 'POST' })
        queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' && queryKey[0] !== 'workspaces' })
        await queries.invalidateQueries()
      },
    }
  }, [user, workspaces, isOperator, queries])
  if (session === undefined) return null
  return <SessionContext.Provider value={session}>{children}</SessionContext.Provider>
}
