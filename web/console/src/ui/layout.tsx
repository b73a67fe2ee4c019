import { type ReactNode, useEffect, useRef } from 'react'
import { t } from '../language/t.ts'
import { CopiedId } from './copied-id.tsx'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'good' | 'warn' | 'bad' | 'accent' | 'caller' | 'neutral'

const TONES: Readonly<Record<Tone, string>> = {
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent-ink',
  caller: 'bg-caller-soft text-caller',
  neutral: 'bg-sunken text-muted',
}

export function Badge({ tone = 'neutral', dot, children }: { tone?: Tone; dot?: boolean; children: ReactNode }) {
  return (
    <span
      className={`inline-flex h-5 items-center gap-1.5 rounded-full px-2 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {dot && <span className="size-1.5 rounded-full bg-current animate-[pulse-dot_1.6s_ease-in-out_infinite]" />}
      {children}
    </span>
  )
}

interface PageHeadProps {
  title: ReactNode
  /** One line under the title. */
  lead?: ReactNode
  /** Of what the page is about, to copy. */
  id?: string
  actions?: ReactNode
}

/** The heading's first words become the title of the tab: a badge beside them does not. */
export function setPageTitle(heading: HTMLElement): void {
  const words = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT).nextNode()?.textContent?.trim()
  document.title = words ? `${words} · Patchbay` : 'Patchbay'
}

/** The head of a screen; its title is the tab's, too. */
export function PageHead({ title, lead, id, actions }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    const { current } = heading
    if (current) setPageTitle(current)
  })
  return (
    <header className="mb-5 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="truncate" ref={heading}>
          {title}
        </h1>
        <div className="mt-0.5 flex flex-wrap items-center gap-x-3 empty:hidden">
          {lead && <p className="min-w-0 text-muted">{lead}</p>}
          {id && <CopiedId id={id} />}
        </div>
      </div>
      {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  )
}

interface CardProps {
  title?: ReactNode
  actions?: ReactNode
  children: ReactNode
  className?: string
  /** The content reaches the edge: for tables. */
  flush?: boolean
}

export function Card({ title, actions, children, className = '', flush }: CardProps) {
  return (
    <section className={`min-w-0 overflow-hidden rounded-lg border border-line bg-surface ${className}`}>
      {(title || actions) && (
        <div className="flex min-h-12 flex-wrap items-center justify-between gap-2 px-4 py-2">
          {title && <h2>{title}</h2>}
          {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </div>
      )}
      <div className={flush ? '' : title || actions ? 'px-4 pb-4' : 'p-4'}>{children}</div>
    </section>
  )
}

/** A figure with its name. */
export function Stat({ label, value, note, tone }: { label: string; value: ReactNode; note?: ReactNode; tone?: Tone }) {
  const colour = tone === 'bad' ? 'text-bad' : tone === 'warn' ? 'text-warn' : tone === 'good' ? 'text-good' : ''
  return (
    <div className="min-w-0">
      <div className="truncate text-xs text-muted">{label}</div>
      <div className={`mt-0.5 truncate text-lg font-semibold ${colour}`}>{value}</div>
      {note && <div className="mt-0.5 truncate text-xs text-muted">{note}</div>}
    </div>
  )
}

/** Nothing here yet, and what to do next. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon: IconName
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center px-6 py-14 text-center">
      <span className="mb-3 grid size-11 place-items-center rounded-full bg-accent-soft text-accent-ink">
        <Icon name={icon} size={22} />
      </span>
      <p className="text-md font-semibold">{title}</p>
      {children && <p className="mt-1 max-w-md text-muted text-pretty">{children}</p>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

export function Notice({ tone, children, action }: { tone: Tone; children: ReactNode; action?: ReactNode }) {
  const icon = tone === 'good' ? 'check' : tone === 'accent' || tone === 'neutral' ? 'info' : 'warning'
  return (
    <div
      className={`flex flex-wrap items-start gap-2.5 rounded-md px-3 py-2.5 text-sm ${TONES[tone]}`}
      role={tone === 'bad' ? 'alert' : undefined}
    >
      <Icon className="mt-0.5" name={icon} size={16} />
      <div className="min-w-0 flex-1 basis-64 wrap-anywhere">{children}</div>
      {action}
    </div>
  )
}

/** Names and values in two columns. */
export function Facts({ rows }: { rows: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
      {rows.map(([name, value]) => (
        <div className="contents" key={name}>
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div aria-busy="true" className="space-y-3 p-4" role="status">
      <span className="sr-only">{t('Loading')}</span>
      {Array.from({ length: lines }, (_, line) => (
        <div className="h-4 rounded bg-sunken" key={line} style={{ width: `${90 - ((line * 23) % 50)}%` }} />
      ))}
    </div>
  )
}
