import { notifyManager, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, api, tagOf } from '../../../data/api.ts'
import type { Agent, AgentInput } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { toast } from '../../../ui/toast.tsx'

interface Edit {
  readonly fields: AgentInput
  /** The agent as it was when the first of them was changed. */
  readonly base: Agent
}

/** Somebody else saved the agent since it was read. */
export class OtherEdit extends Error {
  /** As it is now. */
  readonly agent: Agent
  readonly fields: readonly string[]
  /** Undefined where nobody knows any more. */
  readonly by: string | undefined
  readonly at: string | undefined

  constructor(cause: ApiError, agent: Agent, fields: readonly string[]) {
    super(cause.message, { cause })
    const { by, at } = cause.params
    this.agent = agent
    this.fields = fields
    this.by = typeof by === 'string' ? by : undefined
    this.at = typeof at === 'string' ? at : undefined
  }
}

/** What no editor sends: nothing of it is lost by saving. */
const OF_NO_EDITOR: Readonly<Record<Exclude<keyof Agent, keyof AgentInput>, true>> = {
  agent_id: true,
  workspace_id: true,
  version: true,
  unpublished_changes: true,
  warnings: true,
  phone_numbers: true,
  documents: true,
  created_at: true,
  updated_at: true,
}

/** The changes of an agent that are not saved yet, and saving them only over what was read. */
export function useAgentEdit(saved: Agent) {
  const path = `/agents/${saved.agent_id}`
  const queries = useQueryClient()
  const [edit, setEdit] = useState<Edit>()
  // Fields that keep what was typed themselves are drawn anew.
  const [round, setRound] = useState(0)
  const show = (agent: Agent) => queries.setQueryData([path, {}], agent)
  const save = useMutation<Agent, Error>({
    mutationFn: () => saveEdit(path, edit ?? { fields: {}, base: saved }),
    onSuccess: (answer) => {
      toast(
        answer.publishing === 'manual'
          ? t('Saved. Calls use it once it is published.')
          : t('Saved. The next conversation uses it.'),
      )
      const isOfAgents = ({ queryKey }: { queryKey: QueryKey }) => String(queryKey[0]).startsWith('/agents')
      void queries.invalidateQueries({ predicate: isOfAgents })
      // What was saved stands at once: the form never shows the old words again.
      show(answer)
      setEdit(undefined)
    },
  })
  const start = (next: Edit | undefined) => {
    save.reset()
    setEdit(next)
    setRound(round + 1)
  }
  return {
    changed: edit?.fields ?? {},
    isChanged: edit !== undefined,
    save,
    /** Another number after each time that the forms begin anew. */
    round,
    change(fields: AgentInput): void {
      setEdit((before) => {
        const base = before?.base ?? saved
        const all = onlyChanges(saved, { ...before?.fields, ...fields })
        return Object.keys(all).length > 0 ? { base, fields: all } : undefined
      })
    },
    discard: () => start(undefined),
    /** Shows what the other saved, and keeps or gives up what was changed here. */
    reload({ agent }: OtherEdit, { keep }: { keep: boolean }): void {
      show(agent)
      // Once the page has it: forms that begin anew begin with what the other saved.
      notifyManager.schedule(() => start(keep && edit ? { base: agent, fields: edit.fields } : undefined))
    },
  }
}

/** @throws OtherEdit */
async function saveEdit(path: string, { base, fields }: Edit): Promise<Agent> {
  const put = (agent: Agent) => api<Agent>(path, { method: 'PUT', body: fields, ifMatch: tagOf(agent) })
  try {
    return await put(base)
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'precondition_failed') throw error
    const now = await api<Agent>(path)
    const changed = differing(base, now).filter((field) => !Object.hasOwn(OF_NO_EDITOR, field))
    if (changed.length > 0) throw new OtherEdit(error, now, changed)
    return put(now)
  }
}

const differing = (before: Agent, now: Agent): string[] =>
  (Object.keys(now) as (keyof Agent)[]).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(now[name]))

/** Without the fields that are as they were. */
function onlyChanges(saved: Agent, fields: AgentInput): AgentInput {
  const entries = Object.entries(fields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(saved[name as keyof Agent]),
  )
  return Object.fromEntries(entries)
}
