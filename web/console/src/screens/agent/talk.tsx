import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { formatInner, formatWord } from '../../data/format.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Card, Notice, type Tone } from '../../ui/layout.tsx'
import { Levels } from '../../ui/levels.tsx'
import { Devices } from './devices.tsx'
import { TalkFault } from './talk-fault.tsx'
import { TalkTranscript } from './talk-transcript.tsx'
import { Understands } from './understands.tsx'
import { type Talking, useTalk } from './use-talk.ts'

const AGENT_TONES: Readonly<Record<Talking['agent'], Tone>> = {
  listening: 'caller',
  thinking: 'neutral',
  speaking: 'accent',
}
const WAITING: Readonly<Partial<Record<Talking['state'], string>>> = {
  microphone: t('Asking for the microphone'),
  connecting: t('Connecting'),
  reconnecting: t('Reconnecting'),
}

/** Why it is over, where the word of the API says little. */
const ENDS: Readonly<Record<string, string>> = {
  caller_hangup: t('You hung up.'),
  agent_hangup: t('The agent hung up.'),
  idle: t('Nobody said anything for a while, so it ended.'),
  max_duration: t('It reached the longest time a call may take.'),
}

/** Talk to the agent, as it is saved: by voice, by typing, or both. */
export function Talk({ agent, isChanged }: { agent: Agent; isChanged: boolean }) {
  const talk = useTalk(agent.agent_id)
  const [record, setRecord] = useState(true)
  const start = (microphone: boolean) => void talk.start(microphone, record)
  const { talking } = talk
  const { state, callId, fault, endReason, isSpoken, isMuted, isRecorded } = talking
  const isOn = state !== 'idle' && state !== 'ended'
  const isThere = state === 'connected' || state === 'reconnecting'
  return (
    <Card actions={<State talking={talking} />} title={t('Talk')}>
      <div className="flex min-h-72 flex-col lg:max-h-[calc(100dvh-12rem)]">
        {state === 'idle' ? (
          <Begin agent={agent} isChanged={isChanged} onRecord={setRecord} onStart={start} record={record} />
        ) : (
          <TalkTranscript callId={callId} isOn={isOn} lines={talking.lines} />
        )}
        {fault && <TalkFault fault={fault} isOver={!isOn} onType={() => start(false)} />}
        {talking.isSilent && isOn && (
          <div className="mb-3">
            <Notice
              action={
                <Button onClick={talk.hear} size="sm">
                  {t('Turn the sound on')}
                </Button>
              }
              tone="warn"
            >
              {t('The browser plays nothing yet.')}
            </Notice>
          </div>
        )}
        {isThere && (
          <Levels
            above={[t('Your voice'), !isSpoken ? t('You type') : isMuted ? t('You are muted') : t('You')]}
            below={[t('The agent’s voice'), t('Agent')]}
            levels={talk.levels}
          />
        )}
        {isThere && isRecorded && (
          <p className="mb-2 flex items-center gap-1.5 text-xs text-muted">
            <span aria-hidden="true" className="size-1.5 rounded-full bg-bad" /> {t('Recorded')}
          </p>
        )}
        {isOn && <Say disabled={!isThere} onSay={talk.say} />}
        {isOn && (
          <div className="mt-3 flex gap-2">
            {isSpoken && (
              <>
                <Button
                  aria-pressed={isMuted}
                  className="flex-1"
                  disabled={!isThere}
                  icon={isMuted ? 'muted' : 'mic'}
                  onClick={talk.toggleMute}
                >
                  {isMuted ? t('Unmute') : t('Mute')}
                </Button>
                <Devices disabled={!isThere} onMicrophone={talk.useMicrophone} onSpeaker={talk.useSpeaker} />
              </>
            )}
            <Button className="flex-1" icon="hangup" kind="danger" onClick={talk.end}>
              {t('Hang up')}
            </Button>
          </div>
        )}
        {state === 'ended' && (
          <div className="mt-3 flex flex-wrap gap-2">
            <p className="w-full text-sm text-muted">
              {ENDS[endReason ?? ''] ?? t('The conversation is over: {why}.', { why: formatInner(endReason) })}
            </p>
            <Button className="flex-1" icon="mic" onClick={() => start(isSpoken)}>
              {t('Talk again')}
            </Button>
            {callId && (
              <Link className={`${buttonClass('primary')} flex-1`} params={{ callId }} to="/calls/$callId">
                {t('See the call')}
              </Link>
            )}
          </div>
        )}
        {state !== 'ended' && <Understands agent={agent} isOn={isOn} {...(isThere ? { onSay: talk.say } : {})} />}
      </div>
    </Card>
  )
}

function State({ talking: { state, agent } }: { talking: Talking }) {
  const waiting = WAITING[state]
  if (waiting) return <Badge tone={state === 'reconnecting' ? 'warn' : 'neutral'}>{waiting} …</Badge>
  if (state !== 'connected') return null
  return (
    <Badge dot tone={AGENT_TONES[agent]}>
      {formatWord(agent)}
    </Badge>
  )
}

interface BeginProps {
  agent: Agent
  isChanged: boolean
  record: boolean
  onRecord: (record: boolean) => void
  onStart: (microphone: boolean) => void
}

function Begin({ agent, isChanged, record, onRecord, onStart }: BeginProps) {
  return (
    <div className="grid flex-1 place-items-center py-6 text-center">
      <div>
        <Button className="h-12! rounded-full! px-6!" icon="mic" kind="primary" onClick={() => onStart(true)}>
          {t('Talk to {agent_name}', { agent_name: agent.agent_name })}
        </Button>
        <p className="mt-3">
          <Button kind="quiet" onClick={() => onStart(false)} size="sm">
            {t('Without a microphone')}
          </Button>
        </p>
        {agent.recording !== 'off' && (
          <label className="mt-2 flex items-center justify-center gap-2 text-sm">
            <input
              checked={record}
              className="size-4 accent-(--accent)"
              onChange={({ target: { checked } }) => onRecord(checked)}
              type="checkbox"
            />
            {t('Record it, to hear it again')}
          </label>
        )}
        <p className="mt-2 text-sm text-muted text-pretty">
          {isChanged
            ? t('It answers as it was saved last; save to hear your changes.')
            : agent.unpublished_changes
              ? t('It answers as its live version; publish the draft to hear that.')
              : t('It answers right here, as callers hear it.')}
        </p>
      </div>
    </div>
  )
}

function Say({ disabled, onSay }: { disabled: boolean; onSay: (text: string) => void }) {
  const [text, setText] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '') return
    onSay(text.trim())
    setText('')
  }
  return (
    <form className="flex gap-2" onSubmit={submit}>
      <Input
        aria-label={t('Say something by typing')}
        disabled={disabled}
        maxLength={4000}
        onChange={(event) => setText(event.target.value)}
        placeholder={t('Speak, or type what you would say')}
        value={text}
      />
      <button
        aria-label={t('Send')}
        className={`${buttonClass('plain')} w-10 px-0!`}
        disabled={disabled || text.trim() === ''}
        type="submit"
      >
        <Icon name="send" />
      </button>
    </form>
  )
}
