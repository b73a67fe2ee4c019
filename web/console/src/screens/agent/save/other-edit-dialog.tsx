import { formatAgo, formatList } from '../../../data/format.ts'
import type { AgentInput } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogActions } from '../../../ui/dialog.tsx'
import { fieldName } from '../versions/field-name.ts'
import type { OtherEdit } from './use-agent-edit.ts'

const MOST_NAMES = 6

interface OtherEditDialogProps {
  other: OtherEdit
  /** What was changed here. */
  changed: AgentInput
  onClose: () => void
  onReload: (choice: { keep: boolean }) => void
}

/** Two edit the agent at once: who changed what, and how to go on. */
export function OtherEditDialog({ other, changed, onClose, onReload }: OtherEditDialogProps) {
  const { by, at, fields } = other
  const names = (all: readonly string[]) => formatList(all.map(fieldName), MOST_NAMES)
  const both = fields.filter((field) => field in changed)
  return (
    <Dialog
      lead={t('Nothing was saved: your changes began before that.')}
      onClose={onClose}
      open
      title={t('The agent was changed meanwhile')}
    >
      <p className="text-pretty">
        {by === undefined
          ? t('Changed: {fields}.', { fields: names(fields) })
          : t('{by} changed: {fields} ({when}).', { by, fields: names(fields), when: formatAgo(at) })}
      </p>
      {both.length > 0 && (
        <p className="mt-2 text-pretty text-warn">
          {t('You changed, too: {fields}. If you keep that and save, it replaces the other.', { fields: names(both) })}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>{t('Cancel')}</Button>
        <Button kind="danger" onClick={() => onReload({ keep: false })}>
          {t('Reload and drop my changes')}
        </Button>
        <Button kind="primary" onClick={() => onReload({ keep: true })}>
          {t('Reload and keep my changes')}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
