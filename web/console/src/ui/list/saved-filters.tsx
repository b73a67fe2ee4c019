import { useState } from 'react'
import { useKept } from '../../data/kept.ts'
import { useSession } from '../../data/session.tsx'
import { t } from '../../language/t.ts'
import { Button } from '../button.tsx'
import { Dialog, DialogActions } from '../dialog.tsx'
import { Field, Input } from '../field.tsx'
import { Menu } from '../menu.tsx'

export type Filters = Readonly<Record<string, string>>

interface SavedFilter {
  readonly name: string
  readonly filters: Filters
}

const MOST = 20
const MAX_NAME_CHARS = 60

interface SavedFiltersProps {
  list: string
  /** What of the list is shown now: only what may stand in an address. */
  filters: Filters
  onChoose: (filters: Filters) => void
}

/** Filters under a name, kept in this browser for the workspace. */
export function SavedFilters({ list, filters, onChoose }: SavedFiltersProps) {
  const { workspace } = useSession()
  const [saved, setSaved] = useKept(`filters.${list}.${workspace?.workspace_id}`, readSaved)
  const [isNaming, setNaming] = useState(false)
  const same = saved.find((one) => isSame(one.filters, filters))
  const isEmpty = Object.keys(filters).length === 0
  if (isEmpty && saved.length === 0) return null
  const save = (name: string) => {
    setSaved([...saved.filter((one) => one.name !== name), { name, filters }].slice(-MOST))
    setNaming(false)
  }
  return (
    <>
      <Menu
        items={[
          ...saved.map((one) => ({
            key: `saved ${one.name}`,
            label: one.name,
            checked: one === same,
            onSelect: () => onChoose(one.filters),
          })),
          !isEmpty &&
            same === undefined && { label: t('Save this filter'), icon: 'plus', onSelect: () => setNaming(true) },
          same !== undefined && {
            label: t('Remove {name}', { name: same.name }),
            icon: 'trash',
            danger: true,
            onSelect: () => setSaved(saved.filter((one) => one !== same)),
          },
        ]}
        trigger={<Button icon="down">{same?.name ?? t('Saved filters')}</Button>}
      />
      <Dialog onClose={() => setNaming(false)} open={isNaming} title={t('Save this filter')}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            save(String(new FormData(event.currentTarget).get('name')).trim())
          }}
        >
          <Field label={t('Name')}>
            <Input maxLength={MAX_NAME_CHARS} name="name" pattern=".*\S.*" required />
          </Field>
          <DialogActions>
            <Button onClick={() => setNaming(false)}>{t('Cancel')}</Button>
            <Button kind="primary" type="submit">
              {t('Save')}
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  )
}

const isSame = (a: Filters, b: Filters): boolean =>
  Object.keys({ ...a, ...b }).every((name) => (a[name] ?? '') === (b[name] ?? ''))

function readSaved(kept: unknown): readonly SavedFilter[] {
  if (!Array.isArray(kept)) return []
  return kept.filter(
    (one: Partial<SavedFilter> | null): one is SavedFilter =>
      typeof one?.name === 'string' && typeof one.filters === 'object' && one.filters !== null,
  )
}
