import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useId, useState } from 'react'
import { useRead } from './data/queries.ts'
import { useSession } from './data/session.tsx'
import type { Agent, Campaign } from './data/types.ts'
import { t } from './language/t.ts'
import { Dialog } from './ui/dialog.tsx'
import { Input } from './ui/field.tsx'
import { Icon, type IconName } from './ui/icon.tsx'

const MOST = 12
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

interface Goal {
  readonly path: string
  readonly label: string
  readonly kind: string
  readonly icon: IconName
}

interface PaletteProps {
  screens: readonly (readonly [path: string, label: string, icon: IconName])[]
  onClose: () => void
}

/** Goes to a screen, an agent, a campaign or the call of a pasted id, by the keyboard alone. */
export function Palette({ screens, onClose }: PaletteProps) {
  const { may } = useSession()
  const navigate = useNavigate()
  const agents = useRead<Agent[]>('/agents')
  const campaigns = useRead<Campaign[]>('/api/v/campaign/')
  const [words, setWords] = useState('')
  const [at, setAt] = useState(0)
  const listId = useId()
  const all: Goal[] = [
    ...screens.map(([path, label, icon]) => ({ path, label, icon, kind: t('Screen') })),
    ...(may('developer')
      ? [{ path: '/agents?new=true', label: t('New agent'), icon: 'plus' as const, kind: t('Create') }]
      : []),
    ...(agents.data ?? []).map(({ agent_id, agent_name }) => ({
      ...{ path: `/agents/${agent_id}`, label: agent_name, icon: 'agents' as const, kind: t('Agent') },
    })),
    ...(campaigns.data ?? []).map(({ slug, name }) => ({
      ...{ path: `/campaigns/${slug}`, label: name, icon: 'campaigns' as const, kind: t('Campaign') },
    })),
  ]
  const sought = words.trim().toLowerCase()
  const call = {
    path: `/calls/${sought}`,
    label: t('Call {id}', { id: sought }),
    icon: 'calls' as const,
    kind: t('Calls'),
  }
  const goals = UUID.test(sought) ? [call] : all.filter(({ label }) => holds(label, sought)).slice(0, MOST)
  const chosen = Math.min(at, goals.length - 1)
  const go = ({ path }: Goal) => {
    onClose()
    void navigate({ to: path })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setAt((chosen + step + goals.length) % Math.max(1, goals.length))
    }
    const goal = goals[chosen]
    if (event.key === 'Enter' && goal) {
      event.preventDefault()
      go(goal)
    }
  }
  return (
    <Dialog onClose={onClose} open title={t('Go to')}>
      {/* What is typed here is no form that could be lost. */}
      <div onInput={(event) => event.stopPropagation()}>
        <Input
          aria-activedescendant={goals[chosen] ? `${listId}-${chosen}` : undefined}
          aria-autocomplete="list"
          aria-controls={listId}
          aria-expanded="true"
          aria-label={t('Screen, agent, campaign or id of a call')}
          autoComplete="off"
          onChange={({ target }) => {
            setWords(target.value)
            setAt(0)
          }}
          onKeyDown={onKeyDown}
          placeholder={t('Screen, agent, campaign or id of a call')}
          role="combobox"
          value={words}
        />
      </div>
      <div aria-label={t('Go to')} className="mt-3" id={listId} role="listbox">
        {goals.map((goal, n) => (
          <button
            aria-selected={n === chosen}
            className={`flex h-9 w-full items-center gap-2.5 rounded-md px-2.5 text-left ${
              n === chosen ? 'bg-accent-soft text-accent-ink' : 'hover:bg-sunken'
            }`}
            id={`${listId}-${n}`}
            key={`${goal.kind} ${goal.path}`}
            onClick={() => go(goal)}
            role="option"
            tabIndex={-1}
            type="button"
          >
            <Icon name={goal.icon} size={16} />
            <span className="min-w-0 flex-1 truncate">{goal.label}</span>
            <span className="text-xs text-muted">{goal.kind}</span>
          </button>
        ))}
      </div>
      {goals.length === 0 && <p className="py-6 text-center text-muted">{t('Nothing has this name')}</p>}
    </Dialog>
  )
}

/** Whether each word is in the text. */
function holds(text: string, words: string): boolean {
  const small = text.toLowerCase()
  return words.split(/\s+/).every((word) => small.includes(word))
}

const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ['Ctrl K', t('Go to a screen, an agent, a campaign or a call')],
  ['?', t('This list')],
  ['j', t('Next row of a list, next call')],
  ['k', t('Row before, call before')],
  ['Enter', t('Show the row beside the list; once more: open it')],
  ['Ctrl S', t('Save the agent')],
  ['Esc', t('Close what is open')],
]

/** What the keyboard does. */
export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} open title={t('Keyboard')}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-5 gap-y-2.5">
        {KEYS.map(([keys, does]) => (
          <div className="contents" key={keys}>
            <dt>
              <kbd className="rounded border border-line-strong bg-sunken px-1.5 py-0.5 font-mono text-xs">{keys}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
