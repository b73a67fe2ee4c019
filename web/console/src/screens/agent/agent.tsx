import { useBlocker, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api } from '../../data/api.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, AgentInput } from '../../data/types.ts'
import { useWide } from '../../data/wide.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Badge, Loading, PageHead } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { toast } from '../../ui/toast.tsx'
import { PlaceCall } from '../call/place-call.tsx'
import { Knowledge } from './knowledge.tsx'
import { PromptForm } from './prompt-form.tsx'
import { OtherEditDialog } from './save/other-edit-dialog.tsx'
import { OtherEdit, useAgentEdit } from './save/use-agent-edit.ts'
import { SettingsForm } from './settings-form.tsx'
import { Talk } from './talk.tsx'
import { Tools } from './tools/tools.tsx'
import { Versions } from './versions/versions.tsx'
import { PublicForm } from './web/public-form.tsx'

type Tab = 'talk' | 'prompt' | 'settings' | 'tools' | 'knowledge' | 'web' | 'versions'

export function Screen() {
  const { agentId } = useParams({ strict: false })
  const { data: agent, error, refetch } = useRead<Agent>(`/agents/${agentId}`)
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (agent === undefined) return <Loading lines={10} />
  return <Editor agent={agent} key={agent.agent_id} />
}

/** What is changed and not saved yet, and the agent as it would be. */
export interface Draft {
  readonly agent: Agent
  /** As it is without the changes. */
  readonly saved: Agent
  readonly fault: Error | null
  readonly isReadOnly: boolean
  readonly isChanged: boolean
  change(fields: AgentInput): void
}

function Editor({ agent: saved }: { agent: Agent }) {
  const { may } = useSession()
  const { changed, isChanged, save, round, change, discard, reload } = useAgentEdit(saved)
  const [isDeleting, setDeleting] = useState(false)
  const [isCalling, setCalling] = useState(false)
  const search = useSearch({ strict: false })
  const navigate = useNavigate()
  const isWide = useWide('(min-width: 110rem)')
  const isNarrow = !useWide('(min-width: 64rem)')
  const agent = { ...saved, ...changed } as Agent
  const remove = useWrite(() => [`/agents/${saved.agent_id}`, { method: 'DELETE' }], {
    done: t('{agent_name} was deleted', { agent_name: saved.agent_name }),
    changes: ['/agents'],
    onDone: () => void navigate({ to: '/agents' }),
  })
  const draft: Draft = {
    agent,
    saved,
    fault: save.error,
    isReadOnly: !may('developer'),
    isChanged,
    change,
  }
  const other = save.error instanceof OtherEdit ? save.error : undefined
  useSaveKey(() => isChanged && save.mutate())
  const tabs = [
    // Kept as it is behind the other tabs: a conversation goes on while the prompt is read.
    ...(isNarrow ? [['talk', t('Talk'), null] as const] : []),
    ...(isWide ? [] : [['prompt', t('Prompt'), <PromptForm draft={draft} key="prompt" />] as const]),
    ['settings', t('Settings'), <SettingsForm draft={draft} key={`settings ${round}`} />] as const,
    [
      'tools',
      agent.tools.length > 0 ? t('Tools ({length})', { length: agent.tools.length }) : t('Tools'),
      <Tools draft={draft} key="tools" />,
    ] as const,
    ['knowledge', t('Knowledge'), <Knowledge agentId={agent.agent_id} key="knowledge" />] as const,
    ['web', t('Web'), <PublicForm draft={draft} key="web" />] as const,
    ['versions', t('Versions'), <Versions draft={draft} key="versions" />] as const,
  ]
  const tab = tabs.find(([name]) => name === search.tab)?.[0] ?? (isWide ? 'settings' : 'prompt')
  return (
    <>
      <PageHead
        actions={
          <>
            {saved.unpublished_changes && <Badge tone="warn">{t('Unpublished changes')}</Badge>}
            {isChanged && <Badge tone="warn">{t('Not saved')}</Badge>}
            <Button icon="calls" onClick={() => setCalling(true)}>
              {t('Call a number')}
            </Button>
            {may('developer') && (
              <>
                {isChanged && <Button onClick={discard}>{t('Discard')}</Button>}
                <Button busy={save.isPending} disabled={!isChanged} kind="primary" onClick={() => save.mutate()}>
                  {t('Save')}
                </Button>
              </>
            )}
            <Menu
              items={[
                may('developer') && {
                  label: t('Duplicate'),
                  icon: 'copy',
                  onSelect: () => void duplicate(saved, navigate),
                },
                {
                  label: t('Show calls'),
                  icon: 'calls',
                  onSelect: () => void navigate({ to: '/calls', search: { agent_id: saved.agent_id } }),
                },
                may('admin') && { label: t('Delete'), icon: 'trash', danger: true, onSelect: () => setDeleting(true) },
              ]}
              trigger={<Button aria-label={t('More')} icon="more" />}
            />
          </>
        }
        id={agent.agent_id}
        lead={
          agent.phone_numbers.length > 0
            ? t('Answers {numbers}', { numbers: agent.phone_numbers.join(', ') })
            : t('Answers in the browser')
        }
        title={agent.agent_name}
      />
      {isCalling && <PlaceCall agentId={saved.agent_id} onClose={() => setCalling(false)} />}
      <div className="mb-3 empty:hidden">
        <Fault error={other ? undefined : save.error} isWhole />
      </div>
      {other && (
        <OtherEditDialog
          changed={changed}
          onClose={() => save.reset()}
          onReload={(choice) => reload(other, choice)}
          other={other}
        />
      )}
      <div
        className={`grid items-start gap-6 ${isWide ? 'grid-cols-[minmax(0,1.2fr)_minmax(0,1fr)_26rem]' : 'lg:grid-cols-[minmax(0,1fr)_22rem] 2xl:grid-cols-[minmax(0,1fr)_26rem]'}`}
      >
        {isWide && <PromptForm draft={draft} />}
        <div className="min-w-0">
          <Tabs<Tab>
            onChange={(next) =>
              void navigate({
                to: '/agents/$agentId',
                params: { agentId: saved.agent_id },
                search: { tab: next },
                replace: true,
              })
            }
            tabs={tabs}
            value={tab}
          />
        </div>
        <div className={isNarrow && tab !== 'talk' ? 'hidden' : 'min-w-0 max-lg:-mt-6 lg:sticky lg:top-6'}>
          <Talk agent={saved} isChanged={isChanged} />
        </div>
      </div>
      <Guard isChanged={isChanged} />
      <Confirm
        action={t('Delete agent')}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutateAsync()}
        open={isDeleting}
        title={t('Delete {agent_name}?', { agent_name: saved.agent_name })}
      >
        {t('Its knowledge goes with it, and its phone numbers answer no more. Calls it had stay.')}
      </Confirm>
    </>
  )
}

async function duplicate(agent: Agent, navigate: ReturnType<typeof useNavigate>): Promise<void> {
  const {
    agent_id: _,
    workspace_id: __,
    phone_numbers: ___,
    documents: ____,
    created_at: _____,
    updated_at: ______,
    ...fields
  } = agent
  try {
    const body = { ...fields, agent_name: `${agent.agent_name} (copy)` }
    const made = await api<Agent>('/agents', { method: 'POST', body })
    await navigate({ to: '/agents/$agentId', params: { agentId: made.agent_id } })
  } catch (error) {
    toast((error as Error).message, 'bad')
  }
}

function useSaveKey(save: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      save()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

/** Asks before unsaved changes are left behind. */
function Guard({ isChanged }: { isChanged: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isChanged && current.pathname !== next.pathname,
    enableBeforeUnload: isChanged,
    withResolver: true,
  })
  return (
    <Dialog
      lead={t('What you changed is not saved yet.')}
      onClose={() => blocker.reset?.()}
      open={blocker.status === 'blocked'}
      title={t('Leave without saving?')}
    >
      <DialogActions>
        <Button onClick={() => blocker.reset?.()}>{t('Stay')}</Button>
        <Button kind="danger" onClick={() => blocker.proceed?.()}>
          {t('Leave')}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
