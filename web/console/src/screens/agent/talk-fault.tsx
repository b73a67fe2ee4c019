import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/layout.tsx'
import type { Talking } from './use-talk.ts'

type Fault = NonNullable<Talking['fault']>

/** What the reader can do about it; for other faults their own sentence says all. */
const CURES: Readonly<Partial<Record<Fault['code'], string>>> = {
  microphone_denied: t(
    'The browser keeps the microphone from this page. Click the sign beside its address, allow the microphone, then talk again.',
  ),
  microphone_missing: t('No microphone was found. Connect one, then talk again.'),
  microphone_busy: t('Another program has the microphone. Close it, then talk again.'),
  insecure_page: t(
    'Browsers give the microphone to pages of https and of localhost alone. Open this console under such an address.',
  ),
  unsupported_browser: t('This browser can’t hold a call. A current Firefox, Chrome, Edge or Safari can.'),
}

interface TalkFaultProps {
  fault: Fault
  /** There is no conversation any more. */
  isOver: boolean
  onType: () => void
}

/** Why it could not be talked, and what to do; typing is always left where only the microphone is missing. */
export function TalkFault({ fault: { code, message }, isOver, onType }: TalkFaultProps) {
  const isOfMicrophone = code.startsWith('microphone_')
  return (
    <div className="mb-3">
      <Notice
        action={
          isOver &&
          isOfMicrophone && (
            <Button onClick={onType} size="sm">
              {t('Type instead')}
            </Button>
          )
        }
        tone="bad"
      >
        {CURES[code] ?? message}
      </Notice>
    </div>
  )
}
