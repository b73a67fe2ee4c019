import { t } from '../language/t.ts'
import { Button } from './button.tsx'
import { Dialog, DialogActions } from './dialog.tsx'
import { toast } from './toast.tsx'

interface ShownOnceProps {
  title: string
  lead: string
  /** Undefined: nothing is shown. */
  secret: string | undefined
  onClose: () => void
}

/** A secret that can't be read again. */
export function ShownOnce({ title, lead, secret, onClose }: ShownOnceProps) {
  return (
    <Dialog firm lead={lead} onClose={onClose} open={secret !== undefined} title={title}>
      <code className="block rounded-md bg-sunken p-3 text-sm wrap-anywhere">{secret}</code>
      <DialogActions>
        <Button
          icon="copy"
          onClick={() => void navigator.clipboard.writeText(secret ?? '').then(() => toast(t('Copied')))}
        >
          {t('Copy')}
        </Button>
        <Button kind="primary" onClick={onClose}>
          {t('I have kept it')}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
