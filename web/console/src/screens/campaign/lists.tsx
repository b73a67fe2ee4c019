import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Campaign, ProspectList } from '../../data/types.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { CsvPreview, useCsv } from '../../ui/csv-preview.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Badge, Card, Empty } from '../../ui/layout.tsx'
import { toast } from '../../ui/toast.tsx'

const EVERY_MS = 3_000

/** The lists of people of a campaign, with what was loaded of each file. */
export function Lists({ campaign }: { campaign: Campaign }) {
  const { may } = useSession()
  const [isNew, setNew] = useState(false)
  const { data: lists = [] } = useRead<ProspectList[]>('/api/v/list/', {
    query: { campaign: campaign.slug },
    everyMs: EVERY_MS,
  })
  const change = useWrite<ProspectList, ProspectList>(
    ({ list_slug, active }) => [`/api/v/list/${list_slug}/`, { method: 'PATCH', body: { active: !active } }],
    { changes: ['/api/v/list'] },
  )
  const add = may('developer') && (
    <Button icon="upload" onClick={() => setNew(true)} size="sm">
      Upload people
    </Button>
  )
  return (
    <Card actions={lists.length > 0 && add} flush title={lists.length > 0 ? 'Lists' : undefined}>
      {lists.length === 0 ? (
        <Empty action={add} icon="upload" title="Nobody to call yet">
          Upload a CSV file with a column primary_phone.
        </Empty>
      ) : (
        <ul>
          {lists.map((list) => (
            <li className="border-t border-line px-4 py-3 text-sm" key={list.list_uuid}>
              <div className="flex items-center gap-2">
                <span className="min-w-0 flex-1 truncate font-medium">{list.name}</span>
                {!list.active && <Badge tone="warn">Switched off</Badge>}
                {may('developer') && (
                  <Button onClick={() => change.mutate(list)} size="sm">
                    {list.active ? 'Switch off' : 'Switch on'}
                  </Button>
                )}
              </div>
              <p className="text-muted">
                {formatCount(list.prospects)} people, {formatCount(list.unresolved)} to go
              </p>
              {list.uploads.map(({ uuid, filename, status, rows, error }) => (
                <div className="mt-1.5 text-xs text-muted" key={uuid}>
                  {filename}:{' '}
                  {status === 'loading' ? (
                    'loading …'
                  ) : status === 'failed' ? (
                    <span className="text-bad">{error}</span>
                  ) : (
                    `${formatCount(rows.loaded)} of ${formatCount(rows.total)} loaded`
                  )}
                  {rows.duplicates > 0 && `, ${formatCount(rows.duplicates)} twice`}
                  {rows.do_not_call > 0 && `, ${formatCount(rows.do_not_call)} do not call`}
                  {rows.invalid > 0 && (
                    <a
                      className={`${buttonClass('quiet', 'sm')} ml-1 h-6!`}
                      download
                      href={`/api/v/upload/${uuid}/rejects/`}
                    >
                      {formatCount(rows.invalid)} refused: why
                    </a>
                  )}
                </div>
              ))}
            </li>
          ))}
        </ul>
      )}
      {isNew && <UploadPeople campaign={campaign} onClose={() => setNew(false)} />}
    </Card>
  )
}

function UploadPeople({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const [file, setFile] = useState<File>()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const csv = useCsv(file)
  const queries = useQueryClient()
  const upload = async (name: string) => {
    setBusy(true)
    setError(null)
    try {
      const list = await api<ProspectList>('/api/v/list/', { method: 'POST', body: { campaign: campaign.slug, name } })
      const form = new FormData()
      form.set('dedupe', 'true')
      form.set('original_data', file!)
      await api(`/api/v/upload/${list.list_slug}/`, { method: 'POST', form })
      toast('The file is being loaded')
      void queries.invalidateQueries()
      onClose()
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      lead="Rows with numbers that are none, or are on the do-not-call list, are left out, and you see which and why."
      onClose={onClose}
      open
      title="Upload people"
      wide
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          void upload(String(new FormData(event.currentTarget).get('name')))
        }}
      >
        <Field label="Name of the list">
          <Input name="name" placeholder="Customers of spring" required />
        </Field>
        <Field
          hint="CSV with a header row: primary_phone, and where you have them first_name, last_name, state, postal_code, timezone, consent_at. Other columns are variables."
          label="File"
        >
          <Input
            accept=".csv,text/csv"
            className="py-1.5"
            onChange={({ target }) => setFile(target.files?.[0])}
            required
            type="file"
          />
        </Field>
        <CsvPreview csv={csv} needs="primary_phone" />
        <Fault error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={busy} kind="primary" type="submit">
            Upload
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
