import { type FormEvent, useRef, useState } from 'react'
import { formatAgo, formatBytes, formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { KnowledgeDocument, Passage } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Input, Select } from '../../ui/field.tsx'
import { Badge, Card, Empty, Loading, type Tone } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'

const TONES: Readonly<Record<KnowledgeDocument['status'], Tone>> = {
  processing: 'accent',
  ready: 'good',
  failed: 'bad',
}
const ACCEPTED = '.pdf,.docx,.txt,.md,.csv,.html,.json'

/** The documents an agent looks things up in, and a question to try them with. */
export function Knowledge({ agentId }: { agentId: string }) {
  const { may } = useSession()
  const path = `/agents/${agentId}/documents`
  const [busy, setBusy] = useState(false)
  const documents = useRead<KnowledgeDocument[]>(path, busy ? { everyMs: 1_000 } : {})
  const isProcessing = documents.data?.some(({ status }) => status === 'processing') ?? false
  if (busy !== isProcessing) setBusy(isProcessing)
  const picker = useRef<HTMLInputElement>(null)
  const upload = useWrite<{ documents: KnowledgeDocument[] }, readonly File[]>(
    (files) => {
      const form = new FormData()
      for (const file of files) form.append('files', file)
      return [`/agents/${agentId}/upload`, { method: 'POST', form }]
    },
    {
      done: ({ documents: { length } }) =>
        length === 1 ? t('A document is being read') : t('{n} documents are being read', { n: length }),
      changes: [path],
    },
  )
  const [removed, setRemoved] = useState<KnowledgeDocument>()
  const remove = useWrite(() => [`${path}/${removed?.document_id}`, { method: 'DELETE' }], {
    done: t('Deleted'),
    changes: [path],
  })
  const add = may('developer') && (
    <>
      <input
        accept={ACCEPTED}
        aria-label={t('Documents to upload')}
        className="hidden"
        multiple
        onChange={({ target }) => {
          // A copy: the field is emptied before they are sent.
          if (target.files?.length) upload.mutate([...target.files])
          target.value = ''
        }}
        ref={picker}
        type="file"
      />
      <Button busy={upload.isPending} icon="upload" onClick={() => picker.current?.click()} size="sm">
        {t('Add documents')}
      </Button>
    </>
  )
  if (documents.data === undefined) return documents.error ? <Fault error={documents.error} /> : <Loading />
  return (
    <div className="space-y-4">
      <Card
        actions={documents.data.length > 0 && add}
        flush
        title={documents.data.length > 0 ? t('Documents') : undefined}
      >
        {documents.data.length === 0 ? (
          <Empty action={add} icon="knowledge" title={t('No documents')}>
            {t('Add PDF, Word, text, Markdown, CSV or HTML files. The agent looks up what callers ask for in them.')}
          </Empty>
        ) : (
          <Table
            columns={[
              { name: t('Document'), cell: ({ filename }) => <span className="font-medium">{filename}</span> },
              {
                name: t('State'),
                cell: ({ status, error }) => (
                  <span title={error ?? undefined}>
                    <Badge dot={status === 'processing'} tone={TONES[status]}>
                      {status === 'processing'
                        ? t('Being read')
                        : status === 'ready'
                          ? t('Ready')
                          : t('Failed: {error}', { error })}
                    </Badge>
                  </span>
                ),
              },
              { name: t('Passages'), align: 'end', wide: true, cell: ({ chunks }) => formatCount(chunks) },
              { name: t('Size'), align: 'end', wide: true, cell: ({ size }) => formatBytes(size) },
              {
                name: t('Added'),
                align: 'end',
                wide: true,
                cell: ({ created_at }) => <span className="text-muted">{formatAgo(created_at)}</span>,
              },
              ...(may('developer')
                ? [
                    {
                      name: '',
                      align: 'end' as const,
                      cell: (document: KnowledgeDocument) => (
                        <Button
                          aria-label={t('Delete {filename}', { filename: document.filename })}
                          icon="trash"
                          kind="quiet"
                          onClick={() => setRemoved(document)}
                          size="sm"
                        />
                      ),
                    },
                  ]
                : []),
            ]}
            label={t('Documents')}
            rowKey={({ document_id }) => document_id}
            rows={documents.data}
          />
        )}
      </Card>
      {documents.data.some(({ status }) => status === 'ready') && <TryQuestion agentId={agentId} />}
      <Confirm
        action={t('Delete')}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={t('Delete {filename}?', { filename: removed?.filename })}
      >
        {t('The agent no longer finds anything in it.')}
      </Confirm>
    </div>
  )
}

function TryQuestion({ agentId }: { agentId: string }) {
  const ask = useWrite<{ results: Passage[] }, { query: string; by: string }>(
    (wanted) => [`/agents/${agentId}/query`, { method: 'POST', body: { ...wanted, top_k: 5 } }],
    { quiet: true },
  )
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const fields = new FormData(event.currentTarget)
    const query = String(fields.get('query')).trim()
    if (query) ask.mutate({ query, by: String(fields.get('by')) })
  }
  return (
    <Card title={t('Try a question')}>
      <form className="flex flex-wrap gap-2 sm:flex-nowrap" onSubmit={submit}>
        <Input aria-label={t('Question')} name="query" placeholder={t('When is breakfast?')} />
        <Select aria-label={t('How it is looked for')} className="w-auto!" name="by">
          <option value="both">{t('By words and meaning')}</option>
          <option value="words">{t('By words')}</option>
          <option value="meaning">{t('By meaning')}</option>
        </Select>
        <Button busy={ask.isPending} type="submit">
          {t('Look up')}
        </Button>
      </form>
      <div className="mt-3">
        <Fault error={ask.error} />
        {ask.data?.results.length === 0 && (
          <p className="text-muted">{t('Nothing was found. Other words may help, or a document that says it.')}</p>
        )}
        <ol className="space-y-3">
          {ask.data?.results.map(({ document_id, chunk, filename, text, score }) => (
            <li className="rounded-md border border-line p-3" key={`${document_id} ${chunk}`}>
              <div className="mb-1 flex justify-between gap-3 text-xs text-muted">
                <span className="truncate">{t('{filename}, passage {n}', { filename, n: chunk + 1 })}</span>
                <span>{score.toFixed(3)}</span>
              </div>
              <p className="text-sm whitespace-pre-wrap wrap-anywhere">{text}</p>
            </li>
          ))}
        </ol>
      </div>
    </Card>
  )
}
