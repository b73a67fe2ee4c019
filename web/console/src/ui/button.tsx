import { type ButtonHTMLAttributes, forwardRef, type ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

type Kind = 'primary' | 'plain' | 'quiet' | 'danger'

const KINDS: Readonly<Record<Kind, string>> = {
  primary: 'bg-accent text-on-accent hover:brightness-110 border-transparent',
  plain: 'bg-surface text-ink border-line hover:border-line-strong hover:bg-sunken',
  quiet: 'bg-transparent text-muted border-transparent hover:text-ink hover:bg-sunken',
  danger: 'bg-surface text-bad border-line hover:border-bad hover:bg-bad-soft',
}

/** The classes of a button, for links that look like one. */
export const buttonClass = (kind: Kind = 'plain', size: 'sm' | 'md' = 'md'): string =>
  `inline-flex items-center justify-center gap-1.5 border rounded-md font-medium whitespace-nowrap select-none transition-colors disabled:opacity-50 disabled:cursor-not-allowed ${
    size === 'sm' ? 'h-7 px-2 text-sm' : 'h-9 px-3.5'
  } ${KINDS[kind]}`

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind
  size?: 'sm' | 'md'
  icon?: IconName
  /** Shows that what it began is under way, and takes no second click. */
  busy?: boolean
  children?: ReactNode
}

/** Menus place themselves by its ref. */
export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { kind = 'plain', size = 'md', icon, busy, children, className = '', ...rest },
  ref,
) {
  return (
    <button
      type="button"
      ref={ref}
      {...rest}
      aria-busy={busy || undefined}
      className={`${buttonClass(kind, size)} ${children === undefined ? (size === 'sm' ? 'w-7 px-0!' : 'w-9 px-0!') : ''} ${className}`}
      disabled={rest.disabled || busy}
    >
      {busy ? <Spinner /> : icon && <Icon name={icon} size={size === 'sm' ? 15 : 17} />}
      {children}
    </button>
  )
})

function Spinner() {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-3.5 rounded-full border-2 border-current border-r-transparent animate-[spin_0.8s_linear_infinite]"
    />
  )
}
