import { type ReactNode, useState } from 'react'
import { t } from '../language/t.ts'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'

interface ConfirmProps {
  open: boolean
  onClose: () => void
  title: string
  /** What it does and can't be undone. */
  children: ReactNode
  action: string
  onConfirm: () => Promise<unknown>
}

/** Asks before something that can't be undone. */
export function Confirm({ open, onClose, title, children, action, onConfirm }: ConfirmProps) {
  const [busy, setBusy] = useState(false)
  const go = async () => {
    setBusy(true)
    try {
      await onConfirm()
      onClose()
    } catch {
      // What went wrong was said where it was asked.
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog onClose={onClose} open={open} title={title}>
      <div className="text-pretty">{children}</div>
      <DialogActions>
        <Button onClick={onClose}>{t('Cancel')}</Button>
        <Button busy={busy} kind="danger" onClick={() => void go()}>
          {action}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
