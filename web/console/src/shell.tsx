import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useState } from 'react'
import { request } from './data/api.ts'
import { formatWord } from './data/format.ts'
import { useWrite } from './data/queries.ts'
import { useSession } from './data/session.tsx'
import type { User } from './data/types.ts'
import { LANGUAGES, type Language } from './language/dictionaries.ts'
import { choose, language } from './language/language.ts'
import { t } from './language/t.ts'
import { MaintenanceNotice } from './screens/operator/maintenance.tsx'
import { Button, buttonClass } from './ui/button.tsx'
import { Icon, type IconName } from './ui/icon.tsx'
import { Empty } from './ui/layout.tsx'
import { Menu } from './ui/menu.tsx'
import { toast } from './ui/toast.tsx'
import { Wordmark } from './ui/wordmark.tsx'

type Entry = readonly [path: string, label: string, icon: IconName]
const GROUPS: readonly (readonly Entry[])[] = [
  [
    ['/', t('Home'), 'home'],
    ['/agents', t('Agents'), 'agents'],
    ['/tests', t('Tests'), 'check'],
    ['/calls', t('Calls'), 'calls'],
    ['/chats', t('Chats'), 'send'],
    ['/live', t('Live'), 'live'],
    ['/reports', t('Reports'), 'reports'],
  ],
  [
    ['/campaigns', t('Campaigns'), 'campaigns'],
    ['/batches', t('Batches'), 'batches'],
    ['/numbers', t('Numbers'), 'numbers'],
    ['/knowledge', t('Knowledge'), 'knowledge'],
  ],
  [
    ['/providers', t('Providers'), 'providers'],
    ['/developers', t('Developers'), 'developers'],
    ['/workspace', t('Workspace'), 'workspace'],
    ['/operator', t('Operator'), 'operator'],
  ],
]

const Palette = lazy(() => import('./palette.tsx').then(({ Palette: shown }) => ({ default: shown })))
const Shortcuts = lazy(() => import('./palette.tsx').then(({ Shortcuts: shown }) => ({ default: shown })))

/** Ctrl+K opens the palette, `?` the list of keys, unless somebody types or a dialog is open. */
function useShellKeys(open: (what: 'palette' | 'shortcuts') => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, target, altKey, ctrlKey, metaKey } = event
      const isPalette = key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey
      const isHelp = key === '?' && !ctrlKey && !metaKey && !(target as Element).closest('input, textarea, select')
      if ((!isPalette && !isHelp) || document.querySelector('[role=dialog]') !== null) return
      event.preventDefault()
      open(isPalette ? 'palette' : 'shortcuts')
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [open])
}

export function Shell() {
  const { isOperator, may } = useSession()
  const [overlay, setOverlay] = useState<'palette' | 'shortcuts'>()
  useShellKeys(setOverlay)
  const isShown = ([path]: Entry): boolean =>
    (path !== '/operator' || isOperator) && (path !== '/developers' || may('developer'))
  const [isOpen, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setOpen(false), [path])
  return (
    <div className="min-h-dvh lg:grid lg:grid-cols-[14rem_1fr]">
      <a
        className={`${buttonClass('primary')} fixed top-2 left-2 z-60 -translate-y-20 focus:translate-y-0`}
        href="#main"
      >
        {t('Skip to the content')}
      </a>
      <div className="sticky top-0 z-30 flex h-13 items-center justify-between border-b border-line bg-surface px-4 lg:hidden">
        <Link className="flex items-center" to="/">
          <Wordmark />
        </Link>
        <Button
          aria-expanded={isOpen}
          aria-label={t('Menu')}
          icon={isOpen ? 'close' : 'menu'}
          kind="quiet"
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      <aside
        className={`${isOpen ? 'flex' : 'hidden'} fixed inset-x-0 top-13 bottom-0 z-30 flex-col overflow-y-auto border-line bg-surface lg:sticky lg:top-0 lg:flex lg:h-dvh lg:border-r`}
      >
        <div className="hidden h-14 shrink-0 items-center px-5 lg:flex">
          <Link className="flex items-center" to="/">
            <Wordmark />
          </Link>
        </div>
        <WorkspaceMenu />
        <nav aria-label={t('Screens')} className="flex-1 px-3 pb-4">
          {GROUPS.map((entries) => (
            <ul className="mt-3 space-y-px" key={entries[0]![0]}>
              {entries.filter(isShown).map((entry) => (
                <NavItem entry={entry} key={entry[0]} />
              ))}
            </ul>
          ))}
        </nav>
        <UserMenu onShortcuts={() => setOverlay('shortcuts')} />
      </aside>
      <Suspense>
        {overlay === 'palette' && (
          <Palette onClose={() => setOverlay(undefined)} screens={GROUPS.flat().filter(isShown)} />
        )}
        {overlay === 'shortcuts' && <Shortcuts onClose={() => setOverlay(undefined)} />}
      </Suspense>
      <main className="min-w-0 px-4 py-6 sm:px-8 lg:py-8" id="main" tabIndex={-1}>
        <div className="mx-auto max-w-[100rem]">
          <MaintenanceNotice />
          <Outlet />
        </div>
      </main>
    </div>
  )
}

function NavItem({ entry: [path, label, icon] }: { entry: Entry }) {
  return (
    <li>
      <Link
        activeOptions={{ exact: path === '/', includeSearch: false }}
        activeProps={{ className: 'bg-accent-soft text-accent-ink', 'aria-current': 'page' }}
        className="flex h-9 items-center gap-2.5 rounded-md px-2.5 font-medium transition-colors lg:h-8"
        inactiveProps={{ className: 'text-muted hover:bg-sunken hover:text-ink' }}
        to={path}
      >
        <Icon name={icon} />
        {label}
      </Link>
    </li>
  )
}

function WorkspaceMenu() {
  const { workspace, workspaces, enter } = useSession()
  if (workspace === undefined) return null
  const name = (
    <>
      <span
        aria-hidden="true"
        className="grid size-6 shrink-0 place-items-center rounded-sm bg-accent-soft text-xs font-semibold text-accent-ink"
      >
        {workspace.name.slice(0, 1).toUpperCase()}
      </span>
      <span className="min-w-0 flex-1 truncate text-left text-sm font-medium">{workspace.name}</span>
    </>
  )
  return (
    <div className="px-3 pt-3 lg:pt-0">
      <Menu
        align="start"
        items={workspaces.map((one) => ({
          label: one.name,
          checked: one.workspace_id === workspace.workspace_id,
          onSelect: () => {
            if (one.workspace_id !== workspace.workspace_id)
              enter(one.workspace_id).catch((error: Error) => toast(error.message, 'bad'))
          },
        }))}
        trigger={
          <button
            className="flex h-10 w-full items-center gap-2 rounded-md border border-line px-2 hover:border-line-strong"
            type="button"
          >
            {name}
            <Icon className="text-muted" name="down" size={14} />
          </button>
        }
      />
    </div>
  )
}

function UserMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { user, role } = useSession()
  const queries = useQueryClient()
  const [theme, setTheme] = useTheme()
  const navigate = useNavigate()
  // Mails are in it, too.
  const changeLanguage = useWrite<User, Language>(
    (next) => ['/auth/me', { method: 'PATCH', body: { language: next } }],
    {
      onDone: (_, next) => choose(next),
    },
  )
  const signOut = async () => {
    await request('/auth/logout', { method: 'POST' }).catch(() => {})
    queries.clear()
    location.assign('/console/')
  }
  return (
    <div className="border-t border-line p-3">
      <Menu
        align="start"
        items={[
          { label: t('Your account'), icon: 'agents', onSelect: () => void navigate({ to: '/account' }) },
          { label: t('System theme'), icon: 'info', checked: theme === 'system', onSelect: () => setTheme('system') },
          { label: t('Light'), icon: 'sun', checked: theme === 'light', onSelect: () => setTheme('light') },
          { label: t('Dark'), icon: 'moon', checked: theme === 'dark', onSelect: () => setTheme('dark') },
          {
            label: t('Language'),
            icon: 'language',
            items: Object.entries(LANGUAGES).map(([tag, label]) => ({
              label,
              lang: tag,
              checked: tag === language,
              onSelect: () => changeLanguage.mutate(tag as Language),
            })),
          },
          {
            label: t('Documentation'),
            icon: 'developers',
            onSelect: () => void window.open('/docs', '_blank', 'noopener'),
          },
          { label: t('Keyboard'), icon: 'info', onSelect: onShortcuts },
          { label: t('Sign out'), icon: 'close', onSelect: () => void signOut() },
        ]}
        trigger={
          <button className="flex w-full items-center gap-2.5 rounded-md p-1.5 text-left hover:bg-sunken" type="button">
            <span
              aria-hidden="true"
              className="grid size-8 shrink-0 place-items-center rounded-full bg-caller-soft text-sm font-semibold text-caller"
            >
              {user.name.slice(0, 1).toUpperCase()}
            </span>
            <span className="min-w-0 flex-1">
              <span className="block truncate text-sm font-medium">{user.name}</span>
              <span className="block text-xs text-muted">{formatWord(role)}</span>
            </span>
            <Icon className="text-muted" name="more" size={16} />
          </button>
        }
      />
    </div>
  )
}

type Theme = 'system' | 'light' | 'dark'

/** The look of the page, kept in this browser; public/theme.js reads it before the first paint. */
function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(() => (localStorage.getItem('theme') as Theme | null) ?? 'system')
  return [
    theme,
    (next) => {
      setTheme(next)
      if (next === 'system') {
        localStorage.removeItem('theme')
        delete document.documentElement.dataset.theme
      } else {
        localStorage.setItem('theme', next)
        document.documentElement.dataset.theme = next
      }
    },
  ]
}

export function NotFound() {
  return (
    <Empty
      action={
        <Link className={buttonClass()} to="/">
          {t('Home')}
        </Link>
      }
      icon="search"
      title={t('There is no such page')}
    >
      {t('The address may be mistyped, or what it showed was deleted.')}
    </Empty>
  )
}

/** A screen that could not be drawn, or whose file is gone because a newer version is served. */
export function Broken({ error }: { error: unknown }) {
  return (
    <Empty
      action={<Button onClick={() => location.reload()}>{t('Load the page again')}</Button>}
      icon="warning"
      title={t('This screen broke')}
    >
      {error instanceof Error ? error.message : String(error)}
    </Empty>
  )
}
