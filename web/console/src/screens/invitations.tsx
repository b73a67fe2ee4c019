import { useQueryClient } from '@tanstack/react-query'
import { formatWord } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import type { Invitation } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/layout.tsx'

/** Workspaces that invite the signed-in user; nothing if none does. */
export function Invitations() {
  const queries = useQueryClient()
  const { data: invitations = [] } = useRead<Invitation[]>('/auth/invitations')
  const accept = useWrite<{ detail: string }, Invitation>(
    ({ invitation_id }) => [`/auth/invitations/${invitation_id}/accept`, { method: 'POST' }],
    {
      done: (_, { workspace_name }) =>
        t('You are a member of {workspace_name}; choose it on the left to work in it', { workspace_name }),
      changes: ['/auth/invitations'],
      onDone: () => void queries.invalidateQueries({ queryKey: ['workspaces'] }),
    },
  )
  const decline = useWrite<{ detail: string }, Invitation>(
    ({ invitation_id }) => [`/auth/invitations/${invitation_id}`, { method: 'DELETE' }],
    { done: t('Declined'), changes: ['/auth/invitations'] },
  )
  return invitations.map((invitation) => (
    <Notice
      action={
        <span className="flex gap-2">
          <Button busy={accept.isPending} kind="primary" onClick={() => accept.mutate(invitation)} size="sm">
            {t('Accept')}
          </Button>
          <Button busy={decline.isPending} onClick={() => decline.mutate(invitation)} size="sm">
            {t('Decline')}
          </Button>
        </span>
      }
      key={invitation.invitation_id}
      tone="accent"
    >
      {t('You are invited to “{workspace}” as {role}.', {
        workspace: invitation.workspace_name,
        role: formatWord(invitation.role),
      })}
    </Notice>
  ))
}
