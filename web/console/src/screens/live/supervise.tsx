import { useState } from 'react'
import { useSession } from '../../data/session.tsx'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Field, Input } from '../../ui/field.tsx'
import { Badge, Notice } from '../../ui/layout.tsx'
import { Levels } from '../../ui/levels.tsx'
import { LiveWords } from './live-words.tsx'
import { useListen } from './use-listen.ts'

/** A running call as somebody at its side has it: its words, its sound, and a hand in it. */
export function Supervise({ callId }: { callId: string }) {
  const { may } = useSession()
  const listen = useListen(callId)
  const { listening, levels, order } = listen
  const { state, hasCall, isMuted, asked, fault } = listening
  return (
    <div className="space-y-3">
      <LiveWords callId={callId} />
      {fault && <Notice tone="bad">{fault}</Notice>}
      {!may('developer') ? null : state !== 'listening' ? (
        <Button busy={state === 'joining'} icon="live" kind="primary" onClick={() => void listen.join()}>
          {t('Listen in')}
        </Button>
      ) : (
        <>
          <Levels
            above={[t('The caller’s voice'), t('Caller')]}
            below={[t('The voice they hear'), hasCall ? (isMuted ? t('You are muted') : t('You')) : t('Agent')]}
            levels={levels}
          />
          {!hasCall && <Words asked={asked} order={order} />}
          <div className="flex flex-wrap gap-2">
            {hasCall ? (
              <>
                <Badge dot tone="warn">
                  {t('You have the call')}
                </Badge>
                <Button aria-pressed={isMuted} icon={isMuted ? 'muted' : 'mic'} onClick={listen.toggleMute} size="sm">
                  {isMuted ? t('Unmute') : t('Mute')}
                </Button>
                <GiveBack asked={asked} order={order} />
              </>
            ) : (
              <Button busy={asked === 'take_over'} icon="mic" onClick={listen.takeOver} size="sm">
                {t('Take over')}
              </Button>
            )}
            <Transfer asked={asked} order={order} />
            <End order={order} />
            {!hasCall && (
              <Button kind="quiet" onClick={listen.leave} size="sm">
                {t('Stop listening')}
              </Button>
            )}
          </div>
        </>
      )}
    </div>
  )
}

type Orders = Pick<ReturnType<typeof useListen>, 'order'> & { asked?: string | undefined }

/** Told to the agent alone, or said by it. */
function Words({ asked, order }: Orders) {
  const [text, setText] = useState('')
  const send = (type: 'whisper' | 'say') => {
    if (text.trim() === '') return
    order({ type, text: text.trim() })
    setText('')
  }
  return (
    <form
      className="flex flex-wrap gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        send('whisper')
      }}
    >
      <Input
        aria-label={t('Words for the agent')}
        className="min-w-48 flex-1"
        maxLength={4000}
        onChange={(event) => setText(event.target.value)}
        placeholder={t('Offer them a refund')}
        value={text}
      />
      <Button
        busy={asked === 'whisper'}
        disabled={text.trim() === ''}
        title={t('The caller hears nothing')}
        type="submit"
      >
        {t('Whisper')}
      </Button>
      <Button
        busy={asked === 'say'}
        disabled={text.trim() === ''}
        onClick={() => send('say')}
        title={t('The agent says it to the caller')}
      >
        {t('Say')}
      </Button>
    </form>
  )
}

function GiveBack({ asked, order }: Orders) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button busy={asked === 'give_back'} kind="primary" onClick={() => setOpen(true)} size="sm">
        {t('Give back')}
      </Button>
      <Dialog
        lead={t('The agent goes on. It knows what the caller said, and what you write here.')}
        onClose={() => setOpen(false)}
        open={isOpen}
        title={t('Give the call back')}
      >
        <form
          onSubmit={(event) => {
            event.preventDefault()
            const summary = String(new FormData(event.currentTarget).get('summary')).trim()
            order({ type: 'give_back', ...(summary ? { summary } : {}) })
            setOpen(false)
          }}
        >
          <Field hint={t('May stay empty.')} label={t('What you agreed on')}>
            <Input autoFocus maxLength={4000} name="summary" placeholder={t('A refund of 20 euros was agreed')} />
          </Field>
          <DialogActions>
            <Button onClick={() => setOpen(false)}>{t('Keep the call')}</Button>
            <Button kind="primary" type="submit">
              {t('Give it back')}
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  )
}

function Transfer({ asked, order }: Orders) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button busy={asked === 'transfer'} onClick={() => setOpen(true)} size="sm">
        {t('Transfer')}
      </Button>
      <Dialog onClose={() => setOpen(false)} open={isOpen} title={t('Transfer the call')}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            order({ type: 'transfer', to: String(new FormData(event.currentTarget).get('to')).trim() })
            setOpen(false)
          }}
        >
          <Field hint={t('A number, an extension or a SIP address.')} label={t('To')}>
            <Input autoFocus maxLength={200} name="to" placeholder="+14155550123" required />
          </Field>
          <DialogActions>
            <Button onClick={() => setOpen(false)}>{t('Cancel')}</Button>
            <Button kind="primary" type="submit">
              {t('Transfer it')}
            </Button>
          </DialogActions>
        </form>
      </Dialog>
    </>
  )
}

function End({ order }: Orders) {
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button icon="hangup" kind="danger" onClick={() => setAsked(true)} size="sm">
        {t('End call')}
      </Button>
      <Confirm
        action={t('End it')}
        onClose={() => setAsked(false)}
        onConfirm={async () => order({ type: 'end' })}
        open={isAsked}
        title={t('End this call?')}
      >
        {t('The caller is cut off at once.')}
      </Confirm>
    </>
  )
}
