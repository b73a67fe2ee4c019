import { type FormEvent, useState } from 'react'
import { formatAgo, formatCount, formatWord } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input, TableFile } from '../../ui/field.tsx'
import { Card, Empty, Notice } from '../../ui/layout.tsx'
import { Skipped } from '../../ui/preview.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'

interface Entry {
  phone_number: string
  reason: string
  source: string
  created_at: string
}

/** Numbers nobody is called under. */
export function DoNotCall() {
  const { may } = useSession()
  const [text, setText] = useState('')
  const changes = ['/do-not-call']
  const add = useWrite<Entry, Record<string, string>>((body) => ['/do-not-call', { method: 'POST', body }], {
    done: ({ phone_number }) => t('{phone_number} is not called any more', { phone_number }),
    changes,
    quiet: true,
  })
  const remove = useWrite<{ detail: string }, string>(
    (number) => [`/do-not-call/${encodeURIComponent(number)}`, { method: 'DELETE' }],
    { done: t('May be called again'), changes },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = event.currentTarget
    add.mutate(Object.fromEntries(new FormData(form)) as Record<string, string>, { onSuccess: () => form.reset() })
  }
  return (
    <div className="space-y-4">
      {may('developer') && (
        <Card title={t('Add a number')}>
          <form className="grid gap-3 sm:grid-cols-[14rem_minmax(0,1fr)_auto]" onSubmit={submit}>
            <Input aria-label={t('Number')} inputMode="tel" name="phone_number" placeholder="+14155550123" required />
            <Input aria-label={t('Reason')} name="reason" placeholder={t('Why')} required />
            <Button busy={add.isPending} kind="primary" type="submit">
              {t('Add')}
            </Button>
          </form>
          <div className="mt-3 empty:hidden">
            <Fault error={add.error} />
          </div>
        </Card>
      )}
      {may('developer') && <UploadNumbers />}
      <Card
        actions={
          <Input
            aria-label={t('Search numbers')}
            className="h-8! w-48"
            onChange={(event) => setText(event.target.value)}
            placeholder={t('Search')}
            value={text}
          />
        }
        flush
        title={t('Do not call')}
      >
        <VirtualList<Entry>
          empty={
            <Empty icon="numbers" title={text ? t('No such number') : t('Nobody is on it')}>
              {t(
                'Callers who ask to be called no more are put here by the agent, and you can add numbers yourself. No campaign, batch or call goes to them.',
              )}
            </Empty>
          }
          key={text}
          label={t('Do not call')}
          path="/do-not-call"
          query={{ q: text }}
          row={({ phone_number, reason, source, created_at }) => (
            <div className="grid h-full grid-cols-[10rem_minmax(0,1fr)_auto_auto] items-center gap-3 px-4 text-sm">
              <span className="font-medium">{phone_number}</span>
              <span className="truncate text-muted">
                {reason} · {formatWord(source)}
              </span>
              <span className="hidden text-muted sm:block">{formatAgo(created_at)}</span>
              {may('developer') && (
                <Button
                  aria-label={t('Allow {phone_number}', { phone_number })}
                  icon="trash"
                  kind="quiet"
                  onClick={() => remove.mutate(phone_number)}
                  size="sm"
                />
              )}
            </div>
          )}
          rowKey={({ phone_number }) => phone_number}
        />
      </Card>
    </div>
  )
}

interface Loaded {
  complete: boolean
  rows: number
  added: number
  known: number
  invalid: number
  invalid_lines: { line: number; phone_number: string; reason: string }[]
}

/** A file of numbers. What it did not take is shown until the next upload: those people may still be called. */
function UploadNumbers() {
  const upload = useWrite<Loaded, File>(
    (file) => {
      const form = new FormData()
      form.set('file', file)
      return ['/do-not-call/upload', { method: 'POST', form }]
    },
    { changes: ['/do-not-call'], quiet: true },
  )
  const { data: loaded } = upload
  return (
    <Card title={t('Upload numbers')}>
      <Field
        hint={t(
          'CSV or Excel (.xlsx) with a column “phone_number” of numbers with their country code, such as +14155550123.',
        )}
        label={t('File')}
      >
        <TableFile
          disabled={upload.isPending}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file) upload.mutate(file)
            target.value = ''
          }}
        />
      </Field>
      <div className="mt-3 space-y-3 empty:hidden">
        <Fault error={upload.error} />
        {loaded?.complete && (
          <Notice tone="good">
            {t('All {n} numbers of the file are on the list; {added} are new.', {
              n: formatCount(loaded.rows),
              added: formatCount(loaded.added),
            })}
          </Notice>
        )}
        {loaded && !loaded.complete && (
          <>
            <Notice tone="bad">
              {t(
                '{n} of {all} rows are NOT on the list, because their number could not be read. They may still be called: mend these rows and upload them again.',
                { n: formatCount(loaded.invalid), all: formatCount(loaded.rows) },
              )}
            </Notice>
            <Skipped
              count={loaded.invalid}
              rows={loaded.invalid_lines.map(({ line, phone_number, reason }) => ({
                ...{ line, reason },
                phone: phone_number,
              }))}
            />
          </>
        )}
      </div>
    </Card>
  )
}
