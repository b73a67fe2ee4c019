import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useWrite } from '../../data/queries.ts'
import type { Call, Campaign } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'

/** A call as the people of the campaign get it. */
export function TestCall({ campaign, onClose }: { campaign: Campaign; onClose: () => void }) {
  const navigate = useNavigate()
  return (
    <Dialog
      lead={t('The agent calls you as it would call the people of this campaign.')}
      onClose={onClose}
      open
      title={t('Test call')}
    >
      <TestCallForm
        campaign={campaign}
        onCalled={({ call_log_id }) => void navigate({ to: '/calls/$callId', params: { callId: call_log_id } })}
      >
        {(button) => (
          <>
            <Button onClick={onClose}>{t('Cancel')}</Button>
            {button}
          </>
        )}
      </TestCallForm>
    </Dialog>
  )
}

interface TestCallFormProps {
  campaign: Campaign
  onCalled?: (call: Call) => void
  /** The row of actions, around the one that calls. */
  children: (button: ReactNode) => ReactNode
}

export function TestCallForm({ campaign, onCalled, children }: TestCallFormProps) {
  const call = useWrite<Call, string>(
    (phone_number) => [
      `/api/v/campaign/${campaign.slug}/test-call/`,
      { method: 'POST', body: { phone_number, dynamic_variables: {} }, idempotencyKey: crypto.randomUUID() },
    ],
    { quiet: true, onDone: (made) => onCalled?.(made) },
  )
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault()
        call.mutate(String(new FormData(event.currentTarget).get('phone_number')))
      }}
    >
      <Field label={t('Your number')}>
        <Input inputMode="tel" name="phone_number" placeholder="+14155550123" required />
      </Field>
      {call.data && !onCalled && (
        <Notice
          action={
            <Link
              className={buttonClass('plain', 'sm')}
              params={{ callId: call.data.call_log_id }}
              target="_blank"
              to="/calls/$callId"
            >
              {t('Look at the call')}
            </Link>
          }
          tone="good"
        >
          {t('The agent is calling you.')}
        </Notice>
      )}
      <Fault error={call.error} />
      <DialogActions>
        {children(
          <Button busy={call.isPending} icon="calls" kind={onCalled ? 'primary' : 'plain'} type="submit">
            {t('Call me')}
          </Button>,
        )}
      </DialogActions>
    </form>
  )
}
