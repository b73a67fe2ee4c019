import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { PageHead } from './layout.tsx'
import { Tabs } from './tabs.tsx'

interface TabbedPageProps {
  /** Where the page is: the open tab stands in its address. */
  path: '/numbers' | '/developers' | '/workspace' | '/operator'
  title: string
  lead: string
  actions?: ReactNode
  /** The first one is open where the address names none, or one that is not there. */
  tabs: readonly (readonly [value: string, label: string, content: ReactNode])[]
}

/** A screen of several tabs. */
export function TabbedPage({ path, title, lead, actions, tabs }: TabbedPageProps) {
  const { tab } = useSearch({ strict: false })
  const navigate = useNavigate()
  const open = tabs.find(([value]) => value === tab) ?? tabs[0]
  return (
    <>
      <PageHead actions={actions} lead={lead} title={title} />
      <Tabs
        onChange={(next) => void navigate({ to: path, search: { tab: next }, replace: true })}
        tabs={tabs}
        value={open?.[0] ?? ''}
      />
    </>
  )
}
