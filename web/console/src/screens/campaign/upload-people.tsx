import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../data/api.ts'
import { formatCount } from '../../data/format.ts'
import type { Campaign, ProspectList, UploadPreview } from '../../data/types.ts'
import { usePreview } from '../../data/use-preview.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input, Select, TableFile } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Skipped, Tallies } from '../../ui/preview.tsx'
import { toast } from '../../ui/toast.tsx'

/** What a column of a file can be, beside a variable. */
const FIELDS = {
  primary_phone: t('Phone number'),
  first_name: t('First name'),
  last_name: t('Last name'),
  email: t('E-mail'),
  state: t('State or province'),
  postal_code: t('Postal code'),
  timezone: t('Time zone'),
  consent_at: t('Agreed at'),
  external_id: t('Your own id'),
} as const satisfies Record<NonNullable<UploadPreview['columns'][number]['field']>, string>

const REASONS = {
  invalid_number: t('No phone number'),
  invalid_consent: t('The time of the consent is none'),
  invalid_metadata: t('Its metadata is too long'),
  duplicate: t('Already there'),
  do_not_call: t('On the do-not-call list'),
} as const satisfies Record<UploadPreview['skipped'][number]['code'], string>

interface UploadPeopleProps {
  campaign: Campaign
  onClose: () => void
}

export function UploadPeople({ campaign, onClose }: UploadPeopleProps) {
  return (
    <Dialog
      lead={t('You see who is left out, and why, before anything is stored.')}
      onClose={onClose}
      open
      title={t('Upload people')}
      wide
    >
      <UploadForm campaign={campaign} onClose={onClose} onDone={onClose} />
    </Dialog>
  )
}

interface UploadFormProps extends UploadPeopleProps {
  onDone: () => void
  /** Where the way out is called something else. */
  leave?: string
}

/** A file of people: what its columns are, what is left out of it, and that everybody in it agreed. */
export function UploadForm({ campaign, onClose, onDone, leave = t('Cancel') }: UploadFormProps) {
  const queries = useQueryClient()
  const [file, setFile] = useState<File>()
  const [name, setName] = useState('')
  const [mapping, setMapping] = useState<Readonly<Record<string, string>>>({})
  const [isAttested, setAttested] = useState(false)
  const [isSending, setSending] = useState(false)
  const [refused, setRefused] = useState<Error | null>(null)
  const fields = { mapping: JSON.stringify(mapping), consent_attested: String(isAttested) }
  const { preview, error, isReading } = usePreview<UploadPreview>(
    `/api/v/campaign/${campaign.slug}/preview/`,
    file && { original_data: file },
    fields,
  )
  const send = async () => {
    setSending(true)
    setRefused(null)
    try {
      const list = await api<ProspectList>('/api/v/list/', { method: 'POST', body: { campaign: campaign.slug, name } })
      const form = new FormData()
      for (const [field, value] of Object.entries(fields)) form.set(field, value)
      form.set('original_data', file!)
      await api(`/api/v/upload/${list.list_slug}/`, { method: 'POST', form })
      toast(t('The file is being loaded'))
      void queries.invalidateQueries()
      onDone()
    } catch (cause) {
      setRefused(cause as Error)
    } finally {
      setSending(false)
    }
  }
  const choose = (next: File | undefined) => {
    setFile(next)
    setMapping({})
    if (next && name === '') setName(next.name.replace(/\.[^.]*$/, ''))
  }
  const be = (column: string, field: string) => {
    // One column is the number, one the name: a column that takes a meaning leaves the other without it.
    const others = Object.entries(mapping).filter(([other, is]) => other !== column && (is !== field || !isOwn(is)))
    setMapping({ ...Object.fromEntries(others), [column]: field })
  }
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
    >
      <Field hint={t('CSV or Excel (.xlsx) with a header row. You say below which column is what.')} label={t('File')}>
        <TableFile onChange={({ target }) => choose(target.files?.[0])} required />
      </Field>
      {preview && (
        <>
          <Columns columns={preview.columns} onChange={be} />
          {preview.has_phone ? (
            <>
              {preview.left_out.length > 0 && (
                <Notice tone="warn">
                  {t('The agent says {names}, which no column has: nothing is said in their place.', {
                    names: preview.left_out.map((name) => `{{${name}}}`).join(', '),
                  })}
                </Notice>
              )}
              <Found isReading={isReading} preview={preview} />
            </>
          ) : (
            <Notice tone="warn">{t('Say which column has the phone numbers.')}</Notice>
          )}
          <Field label={t('Name of the list')}>
            <Input onChange={({ target }) => setName(target.value)} required value={name} />
          </Field>
          <label className="flex items-start gap-2 text-sm">
            <input
              checked={isAttested}
              className="mt-0.5 size-4 accent-(--accent)"
              onChange={({ target }) => setAttested(target.checked)}
              type="checkbox"
            />
            <span>
              {t('Everybody in this file agreed to be called')}
              <span className="block text-xs text-muted">
                {t('Kept with your name and the time. Rows that say when somebody agreed keep their own time.')}
              </span>
            </span>
          </label>
        </>
      )}
      <Fault error={refused ?? error} />
      <DialogActions>
        <Button onClick={onClose}>{leave}</Button>
        <Button
          busy={isSending}
          disabled={!preview?.has_phone || preview.rows.loaded === 0 || isReading}
          kind="primary"
          type="submit"
        >
          {t('Upload')}
        </Button>
      </DialogActions>
    </form>
  )
}

const isOwn = (field: string): boolean => Object.hasOwn(FIELDS, field)

interface ColumnsProps {
  columns: UploadPreview['columns']
  onChange: (column: string, field: string) => void
}

/** What each column is. */
function Columns({ columns, onChange }: ColumnsProps) {
  return (
    <section
      aria-label={t('Columns of the file')}
      className="max-h-72 overflow-auto rounded-md border border-line"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      <table className="w-full text-sm">
        <thead className="sticky top-0 bg-sunken text-left text-xs">
          <tr>
            <th className="px-2.5 py-1.5 font-medium" scope="col">
              {t('Column')}
            </th>
            <th className="hidden px-2.5 py-1.5 font-medium sm:table-cell" scope="col">
              {t('First rows')}
            </th>
            <th className="px-2.5 py-1.5 font-medium" scope="col">
              {t('Is')}
            </th>
          </tr>
        </thead>
        <tbody>
          {columns.map(({ name, field, variable, samples }, at) => (
            <tr className="border-t border-line" key={at}>
              <td className="max-w-40 truncate px-2.5 py-1.5 font-medium">{name}</td>
              <td className="hidden max-w-60 truncate px-2.5 py-1.5 text-muted sm:table-cell">
                {samples.filter(Boolean).join(' · ')}
              </td>
              <td className="px-2.5 py-1.5">
                <Select
                  aria-label={t('What {name} is', { name })}
                  className="h-8!"
                  onChange={({ target }) => onChange(name, target.value)}
                  value={field ?? variable ?? ''}
                >
                  {Object.entries(FIELDS).map(([value, label]) => (
                    <option key={value} value={value}>
                      {label}
                    </option>
                  ))}
                  <option value={variable ?? name}>{t('Variable {variable}', { variable: variable ?? name })}</option>
                  <option value="">{t('Leave out')}</option>
                </Select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** What comes of the file, and who of it is not called. */
function Found({ preview: { rows, held, skipped }, isReading }: { preview: UploadPreview; isReading: boolean }) {
  return (
    <div aria-busy={isReading} className="space-y-2">
      <Tallies
        judged={rows.judged}
        rows={[
          [t('Rows'), rows.total],
          [t('Will be loaded'), rows.loaded, 'good'],
          [t('No phone number'), rows.invalid, 'bad'],
          [t('Already there'), rows.duplicates, 'warn'],
          [t('Do not call'), rows.do_not_call, 'warn'],
        ]}
        total={rows.total}
      />
      {held.consent > 0 && (
        <Notice tone="warn">
          {t('{n} of them are held: this campaign calls only people who agreed, and their rows don’t say so.', {
            n: formatCount(held.consent),
          })}
        </Notice>
      )}
      {held.unknown_zone > 0 && (
        <Notice tone="warn">
          {t(
            '{n} of them are held: nobody knows which time it is there. A column with the state or the time zone helps.',
            { n: formatCount(held.unknown_zone) },
          )}
        </Notice>
      )}
      {held.state > 0 && (
        <Notice tone="neutral">
          {t('{n} of them live where this campaign does not call.', { n: formatCount(held.state) })}
        </Notice>
      )}
      <Skipped
        count={rows.invalid + rows.duplicates + rows.do_not_call}
        rows={skipped.map(({ line, primary_phone, code }) => ({ line, phone: primary_phone, reason: REASONS[code] }))}
      />
    </div>
  )
}
