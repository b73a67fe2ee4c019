import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { formatAgo, formatCount } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Agent, Campaign, PhoneNumber } from '../data/types.ts'
import { Button } from '../ui/button.tsx'
import { Dialog, DialogActions } from '../ui/dialog.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input, Select } from '../ui/field.tsx'
import { Card, Empty, Loading, PageHead } from '../ui/layout.tsx'
import { Table } from '../ui/table.tsx'
import { CampaignStatus } from './campaign/status.tsx'

const EVERY_MS = 5_000

export function Screen() {
  const { may } = useSession()
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const { data: campaigns, error, refetch } = useRead<Campaign[]>('/api/v/campaign/', { everyMs: EVERY_MS })
  const { data: agents } = useRead<Agent[]>('/agents')
  const add = may('developer') && (
    <Button icon="plus" kind="primary" onClick={() => void navigate({ to: '/campaigns', search: { new: true } })}>
      New campaign
    </Button>
  )
  return (
    <>
      <PageHead
        actions={add}
        lead="Calls to lists of people, within the hours the law and you allow."
        title="Campaigns"
      />
      <Fault error={error} retry={() => void refetch()} />
      {campaigns === undefined ? (
        !error && <Loading />
      ) : (
        <Card flush>
          {campaigns.length === 0 ? (
            <Empty action={add} icon="campaigns" title="No campaigns yet">
              A campaign calls the people of its lists, tries again those who did not answer, and keeps to calling hours
              and the do-not-call list.
            </Empty>
          ) : (
            <Table
              columns={[
                {
                  name: 'Campaign',
                  cell: ({ slug, name }) => (
                    <Link className="font-medium hover:underline" params={{ slug }} to="/campaigns/$slug">
                      {name}
                    </Link>
                  ),
                },
                { name: 'Status', cell: ({ status }) => <CampaignStatus status={status} /> },
                {
                  name: 'Agent',
                  wide: true,
                  cell: ({ agent_id }) => agents?.find((agent) => agent.agent_id === agent_id)?.agent_name ?? '–',
                },
                { name: 'Lists', align: 'end', wide: true, cell: ({ lists }) => formatCount(lists.length) },
                {
                  name: 'Changed',
                  align: 'end',
                  wide: true,
                  cell: ({ updated_at }) => <span className="text-muted">{formatAgo(updated_at)}</span>,
                },
              ]}
              label="Campaigns"
              rowKey={({ campaign_id }) => campaign_id}
              rows={campaigns}
            />
          )}
        </Card>
      )}
      {search.new === true && may('developer') && (
        <NewCampaign agents={agents ?? []} onClose={() => void navigate({ to: '/campaigns', search: {} })} />
      )}
    </>
  )
}

function NewCampaign({ agents, onClose }: { agents: readonly Agent[]; onClose: () => void }) {
  const navigate = useNavigate()
  const { data: numbers } = useRead<PhoneNumber[]>('/phone-numbers')
  const create = useWrite<Campaign, object>((body) => ['/api/v/campaign/', { method: 'POST', body }], {
    changes: ['/api/v/campaign'],
    quiet: true,
    onDone: ({ slug }) => void navigate({ to: '/campaigns/$slug', params: { slug } }),
  })
  const fault = (field: string) => faultOf(create.error, field)
  return (
    <Dialog
      lead="It begins paused. Upload people and try a call before you start it."
      onClose={onClose}
      open
      title="New campaign"
    >
      <form
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          const form = new FormData(event.currentTarget)
          const from = String(form.get('from_number') ?? '')
          create.mutate({
            name: form.get('name'),
            agent_id: form.get('agent_id') || null,
            earliest_prospect_time: `${form.get('earliest')}:00`,
            latest_prospect_time: `${form.get('latest')}:00`,
            max_active_calls: Number(form.get('max_active_calls')),
            max_number_calls: Number(form.get('max_number_calls')),
            paused: true,
            ...(from ? { from_numbers: [from] } : {}),
          })
        }}
      >
        <Field fault={fault('name')} label="Name">
          <Input name="name" placeholder="Spring appointments" required />
        </Field>
        <Field fault={fault('agent_id')} label="Agent">
          <Select name="agent_id" required>
            {agents.map(({ agent_id, agent_name }) => (
              <option key={agent_id} value={agent_id}>
                {agent_name}
              </option>
            ))}
          </Select>
        </Field>
        <Field
          fault={fault('from_numbers')}
          hint={numbers?.length === 0 ? 'There is none yet: register one under Numbers.' : 'All: those of the agent.'}
          label="Call from"
        >
          <Select name="from_number">
            <option value="">All numbers of the agent</option>
            {numbers?.map(({ phone_number }) => (
              <option key={phone_number}>{phone_number}</option>
            ))}
          </Select>
        </Field>
        <div className="grid grid-cols-2 gap-4">
          <Field fault={fault('earliest_prospect_time')} hint="Where the person is." label="Not before">
            <Input defaultValue="09:00" name="earliest" required type="time" />
          </Field>
          <Field fault={fault('latest_prospect_time')} label="Not after">
            <Input defaultValue="20:00" name="latest" required type="time" />
          </Field>
          <Field fault={fault('max_active_calls')} label="Calls at once, at most">
            <Input defaultValue={5} min={1} name="max_active_calls" required type="number" />
          </Field>
          <Field fault={fault('max_number_calls')} label="Tries a person, at most">
            <Input defaultValue={3} min={1} name="max_number_calls" required type="number" />
          </Field>
        </div>
        <Fault error={create.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button busy={create.isPending} kind="primary" type="submit">
            Make campaign
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}
