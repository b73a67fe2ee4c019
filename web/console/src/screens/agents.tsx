import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { CopiedId } from '../ui/copied-id.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select, Textarea } from '../ui/field.tsx'
import { Empty, Loading, PageHead } from '../ui/layout.tsx'
import type { ListColumn } from '../ui/list/columns.tsx'
import { holdsAll } from '../ui/list/holds-all.ts'
import { SearchInput } from '../ui/list/search-input.tsx'
import { useListSearch } from '../ui/list/use-list-search.ts'
import { WholeList } from '../ui/list/work-list.tsx'
import {
  makeSampleAgent,
  SAMPLE_LANGUAGES,
  type SampleLanguage,
  sampleLanguage,
  sampleOf,
  sampleTools,
  TRADES,
  type Trade,
} from './sample-agent.ts'

const COLUMNS: readonly ListColumn<Agent>[] = [
  {
    id: 'agent',
    name: t('Agent'),
    width: 'minmax(8rem,2fr)',
    cell: ({ agent_name }) => agent_name,
    sortValue: ({ agent_name }) => agent_name,
  },
  {
    id: 'numbers',
    name: t('Phone numbers'),
    width: 'minmax(9rem,1fr)',
    cell: ({ phone_numbers }) => phone_numbers.join(', ') || <span className="text-muted">{t('Browser only')}</span>,
  },
  {
    id: 'language',
    name: t('Language'),
    width: '5rem',
    fromPx: 700,
    cell: ({ language: tag }) => <span className="text-muted">{tag}</span>,
  },
  {
    id: 'listens',
    name: t('Listens with'),
    width: 'minmax(8rem,1fr)',
    fromPx: 900,
    cell: ({ STT_provider, STT_model }) => <Choice model={STT_model} provider={STT_provider} />,
  },
  {
    id: 'thinks',
    name: t('Thinks with'),
    width: 'minmax(8rem,1fr)',
    fromPx: 700,
    cell: ({ LLM_provider, LLM_model }) => <Choice model={LLM_model} provider={LLM_provider} />,
  },
  {
    id: 'speaks',
    name: t('Speaks with'),
    width: 'minmax(8rem,1fr)',
    fromPx: 900,
    cell: ({ TTS_provider, TTS_voice }) => <Choice model={TTS_voice} provider={TTS_provider} />,
  },
  {
    id: 'changed',
    name: t('Changed'),
    width: '8rem',
    align: 'end',
    cell: ({ updated_at }) => <span className="text-muted">{formatAgo(updated_at)}</span>,
    sortValue: ({ updated_at }) => updated_at,
  },
  {
    id: 'id',
    name: t('Id'),
    width: '9rem',
    isExtra: true,
    cell: ({ agent_id }) => (
      <span className="relative z-1">
        <CopiedId id={agent_id} />
      </span>
    ),
  },
]

export function Screen() {
  const { may } = useSession()
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  const { sorting } = useListSearch([])
  const [sought, setSought] = useState('')
  const { data: agents, error, refetch } = useRead<Agent[]>('/agents')
  const isNew = search.new === true
  const open = () => void navigate({ to: '/agents', search: { new: true } })
  return (
    <>
      <PageHead
        actions={
          may('developer') &&
          agents?.length !== 0 && (
            <Button icon="plus" kind="primary" onClick={open}>
              {t('New agent')}
            </Button>
          )
        }
        lead={t('Who answers: a prompt, a voice and a model each.')}
        title={t('Agents')}
      />
      <Fault error={error} retry={() => void refetch()} />
      {agents && agents.length > 0 && (
        <SearchInput
          className="mb-4 max-w-80"
          label={t('Search agents')}
          onSearch={setSought}
          placeholder={t('Name, number or words of the prompt')}
          value={sought}
        />
      )}
      {agents ? (
        <WholeList
          columns={COLUMNS}
          compact={({ phone_numbers, updated_at }) =>
            `${phone_numbers[0] ?? t('Browser only')} · ${formatAgo(updated_at)}`
          }
          empty={
            agents.length === 0 ? (
              <NoAgents onNew={open} />
            ) : (
              <Empty icon="search" title={t('No agent matches')}>
                {t('Search for something else.')}
              </Empty>
            )
          }
          label={t('Agents')}
          name="agents"
          rowKey={({ agent_id }) => agent_id}
          rowPath={({ agent_id }) => `/agents/${agent_id}`}
          rows={agents.filter((agent) => matches(agent, sought))}
          sorting={sorting}
        />
      ) : (
        !error && <Loading />
      )}
      <NewAgent onClose={() => void navigate({ to: '/agents', search: {} })} open={isNew && may('developer')} />
    </>
  )
}

const matches = ({ agent_name, phone_numbers, system_prompt }: Agent, sought: string): boolean =>
  holdsAll([agent_name, ...phone_numbers, system_prompt], sought)

function Choice({ provider, model }: { provider: string; model: string }) {
  return (
    <>
      {provider} <span className="text-muted">{model}</span>
    </>
  )
}

function NoAgents({ onNew }: { onNew: () => void }) {
  const { may } = useSession()
  const [busy, setBusy] = useState(false)
  const navigate = useNavigate()
  const make = async () => {
    setBusy(true)
    try {
      const { agent_id } = await makeSampleAgent()
      await navigate({ to: '/agents/$agentId', params: { agentId: agent_id } })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Empty
      action={
        may('developer') && (
          <>
            <Button icon="plus" kind="primary" onClick={onNew}>
              {t('New agent')}
            </Button>
            <Button busy={busy} onClick={() => void make()}>
              {t('Begin with a sample')}
            </Button>
          </>
        )
      }
      icon="agents"
      title={t('No agents yet')}
    >
      {may('developer')
        ? t('Write down what it should know and how it greets. You can talk to it right away.')
        : t('Developers and Admins of this workspace create agents; ask one of them.')}
    </Empty>
  )
}

function NewAgent({ open, onClose }: { open: boolean; onClose: () => void }) {
  const navigate = useNavigate()
  const [fields, setFields] = useState({ agent_name: '', system_prompt: '', first_message: '' })
  const [trade, setTrade] = useState<Trade | ''>('')
  const [spoken, setSpoken] = useState(sampleLanguage)
  const tools = trade === '' ? [] : sampleTools(trade, spoken)
  const create = useWrite<Agent>(() => ['/agents', { method: 'POST', body: { ...fields, tools, language: spoken } }], {
    changes: ['/agents'],
    quiet: true,
    onDone: ({ agent_id }) => void navigate({ to: '/agents/$agentId', params: { agentId: agent_id } }),
  })
  const begin = (next: Trade | '', tongue: SampleLanguage) => {
    setTrade(next)
    setSpoken(tongue)
    if (next !== '') void sampleOf(next, tongue).then(setFields)
  }
  const bind = (name: keyof typeof fields) => ({
    name,
    onChange: ({ target }: { target: { value: string } }) => setFields({ ...fields, [name]: target.value }),
    value: fields[name],
  })
  return (
    <Dialog
      lead={t('Everything else has a default, and can be changed at any time.')}
      onClose={onClose}
      open={open}
      title={t('New agent')}
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          create.mutate()
        }}
      >
        <div className="grid grid-cols-2 gap-4">
          <Field
            hint={trade === '' ? undefined : t('With tools of a built-in demo: it books, and nobody comes.')}
            label={t('Begin with')}
          >
            <Select onChange={({ target }) => begin(target.value as Trade | '', spoken)} value={trade}>
              <option value="">{t('An empty prompt')}</option>
              {Object.entries(TRADES).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
          <Field fault={faultOf(create.error, 'language')} label={t('Language')}>
            <Select onChange={({ target }) => begin(trade, target.value as SampleLanguage)} value={spoken}>
              {Object.entries(SAMPLE_LANGUAGES).map(([tag, label]) => (
                <option key={tag} lang={tag} value={tag}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
        </div>
        <Field fault={faultOf(create.error, 'agent_name')} label={t('Name')}>
          <Input {...bind('agent_name')} placeholder={t('Front desk')} required />
        </Field>
        <Field
          fault={faultOf(create.error, 'system_prompt')}
          hint={t('Who it is, what it knows, how it should behave.')}
          label={t('Prompt')}
        >
          <Textarea {...bind('system_prompt')} placeholder={t('You answer the phone of …')} required rows={7} />
        </Field>
        <Field hint={t('Empty: it waits for the caller to speak.')} label={t('First message')}>
          <Input {...bind('first_message')} placeholder={t('Hello, how can I help you?')} />
        </Field>
        <Fault error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>{t('Cancel')}</Button>
          <Button busy={create.isPending} kind="primary" type="submit">
            {t('Create agent')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
