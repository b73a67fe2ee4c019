import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { formatAgo, formatCount } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, AgentTest, TestRun } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Badge, Card } from '../../ui/layout.tsx'
import { ListPage } from '../../ui/list-page.tsx'
import { Table } from '../../ui/table.tsx'
import { JudgeAgreementCard } from './judge-agreement.tsx'
import { RunState } from './run-state.tsx'
import { TestDialog } from './test-dialog.tsx'

const EVERY_MS = 3_000

/** The tests of the workspace, and their last runs. */
export function Screen() {
  const { may } = useSession()
  const navigate = useNavigate()
  const list = useRead<AgentTest[]>('/tests')
  const { data: agents = [] } = useRead<Agent[]>('/agents')
  const { data: runs } = useRead<{ items: TestRun[] }>('/tests/runs', { everyMs: EVERY_MS })
  const [open, setOpen] = useState<AgentTest | 'new'>()
  const [agentId, setAgentId] = useState('')
  const [channel, setChannel] = useState('')
  const chosen = agentId || agents[0]?.agent_id || ''
  const nameOf = (id: string | null) => agents.find(({ agent_id }) => agent_id === id)?.agent_name ?? t('Any agent')
  const run = useWrite<TestRun>(
    () => ['/tests/runs', { method: 'POST', body: { agent_id: chosen, ...(channel && { channel }) } }],
    {
      changes: ['/tests/runs'],
      onDone: ({ run_id }) => void navigate({ to: '/tests/runs/$runId', params: { runId: run_id } }),
    },
  )
  const add = may('developer') && (
    <span className="flex flex-wrap items-center gap-2">
      {list.data && list.data.length > 0 && (
        <>
          <Select aria-label={t('Agent to test')} onChange={({ target }) => setAgentId(target.value)} value={chosen}>
            {agents.map(({ agent_id, agent_name }) => (
              <option key={agent_id} value={agent_id}>
                {agent_name}
              </option>
            ))}
          </Select>
          <Select aria-label={t('How they run')} onChange={({ target }) => setChannel(target.value)} value={channel}>
            <option value="">{t('as each says')}</option>
            <option value="text">{t('in text')}</option>
            <option value="audio">{t('in sound')}</option>
            <option value="sip">{t('over SIP')}</option>
          </Select>
          <Button busy={run.isPending} disabled={chosen === ''} icon="play" onClick={() => run.mutate()}>
            {t('Run its tests')}
          </Button>
        </>
      )}
      <Button icon="plus" kind="primary" onClick={() => setOpen('new')}>
        {t('New test')}
      </Button>
    </span>
  )
  return (
    <>
      <ListPage
        add={add}
        columns={[
          {
            name: t('Test'),
            cell: (test) => (
              <button className="text-left font-medium hover:underline" onClick={() => setOpen(test)} type="button">
                {test.name}
              </button>
            ),
          },
          { name: t('Agent'), cell: ({ agent_id }) => (agent_id === null ? t('Any agent') : nameOf(agent_id)) },
          {
            name: t('Tags'),
            wide: true,
            cell: ({ tags }) => (
              <span className="flex flex-wrap gap-1">
                {tags.map((tag) => (
                  <Badge key={tag}>{tag}</Badge>
                ))}
              </span>
            ),
          },
          {
            name: t('Changed'),
            align: 'end',
            wide: true,
            cell: ({ updated_at }) => <span className="text-muted">{formatAgo(updated_at)}</span>,
          },
        ]}
        empty={{
          icon: 'check',
          title: t('No tests yet'),
          children: t(
            'A test is a caller and the facts that must hold afterwards. No tool is called and no call is logged.',
          ),
        }}
        label={t('Tests')}
        lead={t('What an agent must do, tried in seconds before callers find out.')}
        list={list}
        rowKey={({ test_id }) => test_id}
        title={t('Tests')}
      />
      {runs !== undefined && runs.items.length > 0 && (
        <Card className="mt-4" flush title={t('Last runs')}>
          <Table
            columns={[
              {
                name: t('Run'),
                cell: ({ run_id, created_at }) => (
                  <Link className="font-medium hover:underline" params={{ runId: run_id }} to="/tests/runs/$runId">
                    {formatAgo(created_at)}
                  </Link>
                ),
              },
              { name: t('Agent'), cell: ({ agent_id }) => nameOf(agent_id) },
              { name: t('Version'), wide: true, cell: ({ version }) => version },
              {
                name: t('Passed'),
                align: 'end',
                cell: ({ passed, total }) => t('{n} of {all}', { n: formatCount(passed), all: formatCount(total) }),
              },
              { name: t('Result'), cell: (one) => <RunState run={one} /> },
            ]}
            label={t('Last runs')}
            rowKey={({ run_id }) => run_id}
            rows={runs.items}
          />
        </Card>
      )}
      <JudgeAgreementCard />
      {open !== undefined && (
        <TestDialog agents={agents} onClose={() => setOpen(undefined)} {...(open === 'new' ? {} : { test: open })} />
      )}
    </>
  )
}
