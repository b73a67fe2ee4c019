import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useRef } from 'react'
import { t } from '../language/t.ts'
import { Button } from './button.tsx'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  lead?: ReactNode
  children: ReactNode
  wide?: boolean
  /** Can't be left by Escape or a click beside it. */
  firm?: boolean
}

const FIRST = ['input:enabled, textarea:enabled, select:enabled', 'button:enabled']

export function Dialog({ open, onClose, title, lead, children, wide, firm }: DialogProps) {
  const body = useRef<HTMLDivElement>(null)
  const stay = (event: Event) => event.preventDefault()
  /** A form begins at its first field; a question begins at the harmless answer. */
  const begin = (event: Event) => {
    const first = FIRST.map((selector) => body.current?.querySelector<HTMLElement>(selector)).find(Boolean)
    if (!first) return
    event.preventDefault()
    first.focus()
  }
  return (
    <Radix.Root onOpenChange={(next) => next || onClose()} open={open}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          {...(lead ? {} : { 'aria-describedby': undefined })}
          {...(firm ? { onEscapeKeyDown: stay, onInteractOutside: stay } : {})}
          onOpenAutoFocus={begin}
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col rounded-lg border border-line bg-surface shadow-[var(--shadow)] ${
            wide ? 'max-w-3xl' : 'max-w-lg'
          }`}
        >
          <div className="flex items-start justify-between gap-4 px-5 pt-4">
            <div>
              <Radix.Title className="text-md font-semibold">{title}</Radix.Title>
              {lead && <Radix.Description className="mt-0.5 text-sm text-muted">{lead}</Radix.Description>}
            </div>
            {!firm && (
              <Radix.Close asChild>
                <Button aria-label={t('Close')} icon="close" kind="quiet" size="sm" />
              </Radix.Close>
            )}
          </div>
          <div className="overflow-y-auto px-5 pt-4 pb-5" ref={body}>
            {children}
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The row of actions at a dialog's end. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
}
