import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent } from '../data/types.ts'
import { language } from '../language/language.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select, Textarea } from '../ui/field.tsx'
import { Card, Empty, Loading, PageHead } from '../ui/layout.tsx'
import { Table } from '../ui/table.tsx'
import { makeSampleAgent, SAMPLE_LANGUAGES, type SampleLanguage, sampleOf, TRADES, type Trade } from './sample-agent.ts'

export function Screen() {
  const { may } = useSession()
  const navigate = useNavigate()
  const search = useSearch({ strict: false })
  const [text, setText] = useState('')
  const { data: agents, error, refetch } = useRead<Agent[]>('/agents')
  const isNew = search.new === true
  const open = () => void navigate({ to: '/agents', search: { new: true } })
  const shown = agents?.filter(({ agent_name }) => agent_name.toLowerCase().includes(text.toLowerCase()))
  return (
    <>
      <PageHead
        actions={
          may('developer') && (
            <Button icon="plus" kind="primary" onClick={open}>
              {t('New agent')}
            </Button>
          )
        }
        lead={t('Who answers: a prompt, a voice and a model each.')}
        title={t('Agents')}
      />
      <Fault error={error} retry={() => void refetch()} />
      {shown && agents ? (
        agents.length === 0 ? (
          <Card>
            <NoAgents onNew={open} />
          </Card>
        ) : (
          <Card
            actions={
              <Input
                aria-label={t('Search agents')}
                className="h-8! w-56"
                onChange={(event) => setText(event.target.value)}
                placeholder={t('Search')}
                value={text}
              />
            }
            flush
            title={agents.length === 1 ? t('1 agent') : t('{length} agents', { length: agents.length })}
          >
            <AgentTable agents={shown} />
          </Card>
        )
      ) : (
        !error && <Loading />
      )}
      <NewAgent onClose={() => void navigate({ to: '/agents', search: {} })} open={isNew && may('developer')} />
    </>
  )
}

function AgentTable({ agents }: { agents: readonly Agent[] }) {
  if (agents.length === 0) return <p className="px-4 pb-4 text-muted">{t('No agent of that name.')}</p>
  return (
    <Table
      columns={[
        {
          name: t('Agent'),
          cell: ({ agent_id, agent_name }) => (
            <Link className="font-medium hover:underline" params={{ agentId: agent_id }} to="/agents/$agentId">
              {agent_name}
            </Link>
          ),
        },
        { name: t('Listens with'), wide: true, cell: ({ STT_provider, STT_model }) => choice(STT_provider, STT_model) },
        { name: t('Thinks with'), wide: true, cell: ({ LLM_provider, LLM_model }) => choice(LLM_provider, LLM_model) },
        { name: t('Speaks with'), wide: true, cell: ({ TTS_provider, TTS_voice }) => choice(TTS_provider, TTS_voice) },
        {
          name: t('Phone numbers'),
          cell: ({ phone_numbers }) =>
            phone_numbers.join(', ') || <span className="text-muted">{t('Browser only')}</span>,
        },
        {
          name: t('Changed'),
          align: 'end',
          cell: ({ updated_at }) => <span className="text-muted">{formatAgo(updated_at)}</span>,
        },
      ]}
      label={t('Agents')}
      rowKey={({ agent_id }) => agent_id}
      rows={agents}
    />
  )
}

const choice = (provider: string, model: string) => (
  <>
    {provider} <span className="text-muted">{model}</span>
  </>
)

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
  const [spoken, setSpoken] = useState<SampleLanguage>(language)
  const create = useWrite<Agent>(() => ['/agents', { method: 'POST', body: { ...fields, language: spoken } }], {
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
          <Field label={t('Begin with')}>
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
