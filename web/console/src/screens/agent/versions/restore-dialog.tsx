import { useQueryClient } from '@tanstack/react-query'
import { ApiError } from '../../../data/api.ts'
import { useWrite } from '../../../data/queries.ts'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogActions } from '../../../ui/dialog.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Notice } from '../../../ui/layout.tsx'

interface RestoreDialogProps {
  saved: Agent
  version: number
  onClose: () => void
}

/** Makes a version the draft again. Where the draft has changes of its own, asks before they are given up. */
export function RestoreDialog({ saved: { agent_id, publishing }, version, onClose }: RestoreDialogProps) {
  const path = `/agents/${agent_id}`
  const queries = useQueryClient()
  const restore = useWrite<Agent, { replace: boolean }>(
    ({ replace }) => [
      `${path}/versions/${version}/restore`,
      { method: 'POST', query: { replace: replace || undefined } },
    ],
    {
      changes: ['/agents'],
      done: t('Version {version} was restored', { version }),
      quiet: true,
      onDone: (answer) => {
        queries.setQueryData([path, {}], answer)
        onClose()
      },
    },
  )
  const { error } = restore
  const isRefused = error instanceof ApiError && error.code === 'draft_unpublished'
  return (
    <Dialog onClose={onClose} open title={t('Restore version {version}?', { version })}>
      {isRefused ? (
        <Notice tone="warn">{t('The draft has changes that are not published. Restoring gives them up.')}</Notice>
      ) : (
        <p className="text-pretty">
          {publishing === 'immediate'
            ? t('It is live at once, as a new version. Documents stay as they are.')
            : t('It becomes the draft, and is live once you publish. Documents stay as they are.')}
        </p>
      )}
      {!isRefused && error && (
        <div className="mt-3">
          <Fault error={error} />
        </div>
      )}
      <DialogActions>
        <Button onClick={onClose}>{t('Cancel')}</Button>
        {isRefused ? (
          <Button busy={restore.isPending} kind="danger" onClick={() => restore.mutate({ replace: true })}>
            {t('Replace the draft')}
          </Button>
        ) : (
          <Button busy={restore.isPending} kind="primary" onClick={() => restore.mutate({ replace: false })}>
            {t('Restore')}
          </Button>
        )}
      </DialogActions>
    </Dialog>
  )
}
