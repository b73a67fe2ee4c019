import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useRead } from '../data/queries.ts'
import type { Agent } from '../data/types.ts'
import { t } from '../language/t.ts'
import { buttonClass } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Card, Empty, Loading, PageHead } from '../ui/layout.tsx'
import { Knowledge } from './agent/knowledge.tsx'

/** The documents of each agent. */
export function Screen() {
  const { data: agents } = useRead<Agent[]>('/agents')
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  if (agents === undefined) return <Loading />
  const agentId = String(search.agent_id ?? agents[0]?.agent_id ?? '')
  return (
    <>
      <PageHead
        actions={
          agents.length > 0 && (
            <Select
              aria-label={t('Agent')}
              className="w-56!"
              onChange={(event) =>
                void navigate({ to: '/knowledge', search: { agent_id: event.target.value }, replace: true })
              }
              value={agentId}
            >
              {agents.map(({ agent_id, agent_name, documents }) => (
                <option key={agent_id} value={agent_id}>
                  {agent_name} ({documents})
                </option>
              ))}
            </Select>
          )
        }
        lead={t('What agents look up. Each has documents of its own.')}
        title={t('Knowledge')}
      />
      {agents.length === 0 ? (
        <Card>
          <Empty
            action={
              <Link className={buttonClass('primary')} to="/agents">
                {t('Agents')}
              </Link>
            }
            icon="knowledge"
            title={t('No agents yet')}
          >
            {t('Documents belong to an agent: make one first, under Agents.')}
          </Empty>
        </Card>
      ) : (
        <Knowledge agentId={agentId} key={agentId} />
      )}
    </>
  )
}
