import { useEffect, useRef } from 'react'
import { useFeed } from '../../data/feed.ts'
import { formatMs } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Icon } from '../../ui/icon.tsx'
import type { TalkLine } from './use-talk.ts'

const TYPES = ['heard', 'latency', 'tool_called', 'tool_returned', 'ended']
/** The stream tells what changes; this is for what it may not. */
const TURNS_EVERY_MS = 5_000

interface TalkTranscriptProps {
  lines: readonly TalkLine[]
  callId: string | undefined
  isOn: boolean
}

/** What was really heard of both, with what each answer took and did. */
export function TalkTranscript({ lines, callId, isOn }: TalkTranscriptProps) {
  const log = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (lines.length > 0) log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines])
  const isThere = isOn && lines.length > 0
  useFeed(isThere ? `/calls/${callId}/events/live` : undefined, TYPES, [`/calls/${callId}/turns`])
  const { data: turns } = useRead<Turn[]>(`/calls/${callId}/turns`, {
    enabled: callId !== undefined && lines.length > 0,
    ...(isOn ? { everyMs: TURNS_EVERY_MS } : {}),
  })
  const turnOf = ({ role, startMs }: TalkLine) =>
    role === 'assistant' ? turns?.find((turn) => turn.role === role && turn.start_ms === startMs) : undefined
  return (
    <div
      aria-label={t('Conversation')}
      aria-live="polite"
      className="mb-3 min-h-40 flex-1 space-y-2.5 overflow-y-auto"
      ref={log}
      role="log"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
    >
      {lines.length === 0 && (
        <p className="py-8 text-center text-sm text-muted">{isOn ? t('One moment …') : t('Nothing was said.')}</p>
      )}
      {lines.map((line, at) => (
        <Line key={at} line={line} turn={turnOf(line)} />
      ))}
    </div>
  )
}

function Line({ line, turn }: { line: TalkLine; turn: Turn | undefined }) {
  const { role, text, final, interrupted } = line
  const notes = [
    turn?.latency && t('answered in {total_ms}', { total_ms: formatMs(turn.latency.total_ms) }),
    interrupted && t('cut off: this much was heard'),
  ].filter((note) => typeof note === 'string')
  return (
    <div className={`flex flex-col ${role === 'user' ? 'items-end' : 'items-start'}`}>
      {turn?.tools.map(({ id, name, duration_ms, error }) => (
        <p className="mb-1 flex items-center gap-1.5 px-1 text-xs text-muted" key={id}>
          <Icon name="tool" size={13} /> <span className="font-mono">{name}</span>
          {error ? <span className="text-bad">{error}</span> : formatMs(duration_ms)}
        </p>
      ))}
      <p
        className={`max-w-[88%] rounded-lg px-3 py-2 text-sm whitespace-pre-wrap wrap-anywhere ${
          role === 'user' ? 'bg-caller-soft' : 'bg-sunken'
        } ${final ? '' : 'opacity-70'}`}
      >
        {text}
      </p>
      {notes.length > 0 && <span className="mt-0.5 px-1 text-xs text-muted">{notes.join(' · ')}</span>}
    </div>
  )
}
