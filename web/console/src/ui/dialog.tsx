import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { t } from '../language/t.ts'
import { Button } from './button.tsx'
import { Notice } from './layout.tsx'

interface DialogProps {
  open: boolean
  onClose: () => void
  title: string
  lead?: ReactNode
  children: ReactNode
  wide?: boolean
  /** Escape or a click beside it does not close it. */
  firm?: boolean
}

const FIRST = ['input:enabled, textarea:enabled, select:enabled', 'button:enabled']

export function Dialog({ open, onClose, title, lead, children, wide, firm }: DialogProps) {
  const body = useRef<HTMLDivElement>(null)
  const opener = useRef<Element | null>(null)
  const isChanged = useRef(false)
  const [asks, setAsks] = useState(false)
  useEffect(() => {
    isChanged.current = false
    setAsks(false)
  }, [open])
  const stay = (event: Event) => event.preventDefault()
  /** What was typed is thrown away only after a question. */
  const leave = () => {
    if (isChanged.current) setAsks(true)
    else onClose()
  }
  /** Focus goes back to where it came from; where that is gone, to the screen. */
  const giveBack = (event: Event) => {
    event.preventDefault()
    const before = opener.current
    const to = before instanceof HTMLElement && before.isConnected ? before : document.getElementById('main')
    to?.focus({ preventScroll: true })
  }
  /** A form begins at its first field; a question begins at the harmless answer. */
  const begin = (event: Event) => {
    opener.current = document.activeElement
    const first = FIRST.map((selector) => body.current?.querySelector<HTMLElement>(selector)).find(Boolean)
    if (!first) return
    event.preventDefault()
    first.focus()
  }
  return (
    <Radix.Root onOpenChange={(next) => next || leave()} open={open}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-scrim" />
        <Radix.Content
          {...(lead ? {} : { 'aria-describedby': undefined })}
          {...(firm ? { onEscapeKeyDown: stay, onInteractOutside: stay } : {})}
          onCloseAutoFocus={giveBack}
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
          <div
            className="overflow-y-auto px-5 pt-4 pb-5"
            onInput={() => {
              isChanged.current = true
            }}
            ref={body}
          >
            {children}
          </div>
          {asks && (
            <div className="border-t border-line px-5 py-3">
              <Notice
                action={
                  <span className="flex gap-2">
                    <Button onClick={() => setAsks(false)} size="sm">
                      {t('Keep editing')}
                    </Button>
                    <Button kind="danger" onClick={onClose} size="sm">
                      {t('Discard')}
                    </Button>
                  </span>
                }
                tone="warn"
              >
                {t('What you typed here is not saved.')}
              </Notice>
            </div>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** The row of actions at a dialog's end. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
}
