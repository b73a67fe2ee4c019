import { t } from '../language/t.ts'

interface AgentOptionsProps {
  /** Undefined: they are being read. */
  agents: readonly { agent_id: string; agent_name: string }[] | undefined
}

/** The options of a choice of one agent, or of all. */
export function AgentOptions({ agents }: AgentOptionsProps) {
  return (
    <>
      <option value="">{t('All agents')}</option>
      {agents?.map(({ agent_id, agent_name }) => (
        <option key={agent_id} value={agent_id}>
          {agent_name}
        </option>
      ))}
    </>
  )
}
