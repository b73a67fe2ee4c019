import type { FormEvent } from 'react'
import { formatInstant, formatWord } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Workspace } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Fault, faultOf } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Card, Facts } from '../../ui/layout.tsx'

/** What the workspace is called. */
export function General({ workspace }: { workspace: Workspace }) {
  const { may } = useSession()
  const { workspace_id: id, name, type, created_at } = workspace
  const rename = useWrite<Workspace, string>(
    (next) => [`/workspaces/${id}`, { method: 'PATCH', body: { name: next } }],
    {
      done: t('Saved'),
      changes: ['workspaces'],
      quiet: true,
    },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    rename.mutate(String(new FormData(event.currentTarget).get('name')).trim())
  }
  return (
    <Card title={t('General')}>
      {may('admin') && (
        <form className="mb-5 flex max-w-md items-end gap-2" key={name} onSubmit={submit}>
          <Field className="grow" fault={faultOf(rename.error, 'name')} label={t('Name of the workspace')}>
            <Input defaultValue={name} maxLength={200} name="name" required />
          </Field>
          <Button busy={rename.isPending} kind="primary" type="submit">
            {t('Save')}
          </Button>
        </form>
      )}
      <Fault error={rename.error} />
      <Facts
        rows={[
          [t('Id'), <CopiedId id={id} key="id" />],
          [t('Kind'), formatWord(type)],
          [t('Since'), formatInstant(created_at)],
        ]}
      />
    </Card>
  )
}
