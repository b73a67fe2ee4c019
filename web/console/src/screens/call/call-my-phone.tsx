import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRead } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Call, Page, PhoneNumber } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Card } from '../../ui/layout.tsx'
import { PlaceCall } from './place-call.tsx'

/** Until the first phone call: rings the phone of who is signed in, or says what a call needs first. */
export function CallMyPhone() {
  const { user, isOperator, may } = useSession()
  const { data: calls } = useRead<Page<Call>>('/calls/logs', { query: { call_type: 'phone', page_size: 1 } })
  const { data: numbers } = useRead<PhoneNumber[]>('/phone-numbers')
  const [isCalling, setCalling] = useState(false)
  if (calls === undefined || calls.total > 0 || numbers === undefined || !may('developer')) return null
  // A simulated carrier rings nobody.
  const real = numbers.filter(({ provider }) => provider !== 'sim')
  const usable = real.find(({ agent_id }) => agent_id !== null)
  return (
    <Card>
      <div className="flex flex-wrap items-center justify-between gap-4">
        <div className="max-w-xl">
          <h2 className="text-md">{t('Have an agent call your phone')}</h2>
          <p className="mt-0.5 text-pretty text-muted">
            {usable
              ? t('It rings {phone} from {number}, and you see the call live.', {
                  phone: user.phone_number,
                  number: usable.phone_number,
                })
              : real.length > 0
                ? t('Choose the agent of your number, then it can call from it.')
                : t(
                    'A call needs a line: a SIP trunk, which is checked step by step, or the key of a carrier. Then register one of its numbers.',
                  )}
          </p>
        </div>
        <div className="flex flex-wrap gap-2">
          {usable ? (
            <Button icon="calls" kind="primary" onClick={() => setCalling(true)}>
              {t('Call my phone')}
            </Button>
          ) : real.length > 0 ? (
            <Link className={buttonClass('primary')} to="/numbers">
              {t('Phone numbers')}
            </Link>
          ) : (
            <>
              <Link className={buttonClass('primary')} search={{ tab: 'trunks', new: true }} to="/numbers">
                {t('Add a trunk')}
              </Link>
              {isOperator && (
                <Link className={buttonClass()} search={{ tab: 'providers' }} to="/operator">
                  {t('Paste a key')}
                </Link>
              )}
            </>
          )}
        </div>
      </div>
      {isCalling && usable && (
        <PlaceCall
          agentId={usable.agent_id ?? undefined}
          from={usable.phone_number}
          onClose={() => setCalling(false)}
          to={user.phone_number}
        />
      )}
    </Card>
  )
}
