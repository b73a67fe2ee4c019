import { Link } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { formatMs, formatWord } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { Agent, CallEvent, Page } from '../../data/types.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Card, Notice, type Tone } from '../../ui/layout.tsx'
import { Understands } from './understands.tsx'
import { useTalk } from './use-talk.ts'

const EVENTS_EVERY_MS = 1_500
const AGENT_TONES: Readonly<Record<string, Tone>> = { listening: 'caller', thinking: 'neutral', speaking: 'accent' }

/** Talk to the agent, as it is saved. */
export function Talk({ agent, isChanged }: { agent: Agent; isChanged: boolean }) {
  const { talking, start, say, end } = useTalk(agent.agent_id)
  const { state, lines, callId, fault, endReason } = talking
  const isOn = state === 'connecting' || state === 'connected'
  return (
    <Card
      actions={
        state === 'connected' && (
          <Badge tone={AGENT_TONES[talking.agent] ?? 'neutral'} dot>
            {formatWord(talking.agent)}
          </Badge>
        )
      }
      className="lg:sticky lg:top-6"
      title="Talk"
    >
      <div className="flex min-h-72 flex-col lg:max-h-[calc(100dvh-9rem)]">
        {state === 'idle' ? (
          <div className="grid flex-1 place-items-center py-6 text-center">
            <div>
              <Button className="h-12! rounded-full! px-6!" icon="mic" kind="primary" onClick={() => void start()}>
                Talk to {agent.agent_name}
              </Button>
              <p className="mt-3 text-sm text-muted text-pretty">
                {isChanged
                  ? 'It answers as it was saved last; save to hear your changes.'
                  : 'It answers right here, as callers hear it.'}
              </p>
            </div>
          </div>
        ) : (
          <Transcript callId={callId} isOn={isOn} lines={lines} />
        )}
        {fault && (
          <div className="mb-3">
            <Notice tone="bad">{fault}</Notice>
          </div>
        )}
        {isOn && <Say disabled={state !== 'connected'} onSay={say} />}
        {isOn ? (
          <div className="mt-3 flex gap-2">
            <Button className="flex-1" icon="hangup" kind="danger" onClick={end}>
              Hang up
            </Button>
          </div>
        ) : (
          state === 'ended' && (
            <div className="mt-3 flex flex-wrap gap-2">
              <p className="w-full text-sm text-muted">
                The conversation is over: {formatWord(endReason).toLowerCase()}.
              </p>
              <Button className="flex-1" icon="mic" kind="primary" onClick={() => void start()}>
                Talk again
              </Button>
              {callId && (
                <Link className={`${buttonClass()} flex-1`} params={{ callId }} to="/calls/$callId">
                  See the call
                </Link>
              )}
            </div>
          )
        )}
        <Understands agent={agent} {...(state === 'connected' ? { onSay: say } : {})} />
      </div>
    </Card>
  )
}

interface TranscriptProps {
  lines: ReturnType<typeof useTalk>['talking']['lines']
  callId: string | undefined
  isOn: boolean
}

function Transcript({ lines, callId, isOn }: TranscriptProps) {
  const end = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (lines.length > 0) end.current?.scrollIntoView({ block: 'nearest' })
  }, [lines])
  const { data: events } = useRead<Page<CallEvent>>(`/calls/${callId}/events`, {
    query: { page_size: 200 },
    enabled: callId !== undefined,
    ...(isOn ? { everyMs: EVENTS_EVERY_MS } : {}),
  })
  const latencies = events?.items.filter((event) => event.type === 'latency') ?? []
  // The first answer is the greeting, which answers nobody.
  const answers = lines.filter(({ role }, at) => role === 'assistant' && at > 0)
  return (
    <div aria-live="polite" className="mb-3 min-h-40 flex-1 space-y-2.5 overflow-y-auto" role="log">
      {lines.length === 0 && (
        <p className="py-8 text-center text-sm text-muted">{isOn ? 'Connecting …' : 'Nothing was said.'}</p>
      )}
      {lines.map((line, at) => {
        const latency = latencies[answers.indexOf(line)]
        return (
          <div className={`flex flex-col ${line.role === 'user' ? 'items-end' : 'items-start'}`} key={at}>
            <p
              className={`max-w-[88%] rounded-lg px-3 py-2 text-sm whitespace-pre-wrap wrap-anywhere ${
                line.role === 'user' ? 'bg-caller-soft' : 'bg-sunken'
              } ${line.final ? '' : 'opacity-70'}`}
            >
              {line.text}
            </p>
            {latency && (
              <span className="mt-0.5 px-1 text-xs text-muted">answered in {formatMs(latency.total_ms)}</span>
            )}
          </div>
        )
      })}
      <div ref={end} />
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
        aria-label="Say something by typing"
        autoFocus
        disabled={disabled}
        maxLength={4000}
        onChange={(event) => setText(event.target.value)}
        placeholder="Type what you would say"
        value={text}
      />
      <button
        aria-label="Send"
        className={`${buttonClass('plain')} w-10 px-0!`}
        disabled={disabled || text.trim() === ''}
        type="submit"
      >
        <Icon name="send" />
      </button>
    </form>
  )
}
