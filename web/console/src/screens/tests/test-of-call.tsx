import { useNavigate } from '@tanstack/react-router'
import { useRead } from '../../data/queries.ts'
import type { Agent, Call } from '../../data/types.ts'
import { TestDialog } from './test-dialog.tsx'

/** The test that was made of a call, before it is stored: what should have happened is for the reader to write. */
export function TestOfCall({ call, yaml, onClose }: { call: Call; yaml: string; onClose: () => void }) {
  const navigate = useNavigate()
  const { data: agents } = useRead<Agent[]>('/agents')
  if (agents === undefined) return null
  return (
    <TestDialog
      agents={agents}
      made={{ yaml, agentId: call.agent_id }}
      onClose={onClose}
      onSaved={() => void navigate({ to: '/tests' })}
    />
  )
}
