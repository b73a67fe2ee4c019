import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { useFeed } from '../../data/feed.ts'
import {
  formatCount,
  formatDuration,
  formatExactly,
  formatInstant,
  formatMs,
  formatShare,
  formatUsd,
  formatWord,
} from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Call, Page, Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { CopiedId } from '../../ui/copied-id.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Facts, Loading, Notice, PageHead, Stat } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import { CallStatus, isRunning, partyOf } from '../call-status.tsx'
import { Supervise } from '../live/supervise.tsx'
import { TestOfCall } from '../tests/test-of-call.tsx'
import { Analysis } from './analysis.tsx'
import { Events } from './events.tsx'
import { CallPath } from './path.tsx'
import { PlaceCall } from './place-call.tsx'
import { Recording, type RecordingHandle } from './recording.tsx'
import { SipLadder } from './signalling.tsx'
import { Transcript } from './transcript.tsx'
import { Waterfall } from './waterfall.tsx'

/** The stream tells what changes; this is for what it may not. */
const LIVE_EVERY_MS = 5_000
const LIVE_TYPES = [
  'answered',
  'turn',
  'transcribed',
  'heard',
  'latency',
  'tool_returned',
  'knowledge_looked_up',
  'ended',
]

/** One call: what was heard, what was said, what each answer took, what it cost, why it ended. */
export function Screen() {
  const { callId } = useParams({ strict: false })
  const [running, setRunning] = useState(false)
  const every = running ? { everyMs: LIVE_EVERY_MS } : {}
  const { data: call, error, refetch } = useRead<Call>(`/calls/${callId}`, every)
  const { data: turns } = useRead<Turn[]>(`/calls/${callId}/turns`, every)
  useFeed(running ? `/calls/${callId}/events/live` : undefined, LIVE_TYPES, [`/calls/${callId}`])
  useEffect(() => setRunning(call !== undefined && isRunning(call)), [call])
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (call === undefined) return <Loading lines={10} />
  return <Details call={call} key={call.call_log_id} turns={turns ?? []} />
}

function Details({ call, turns }: { call: Call; turns: readonly Turn[] }) {
  const [atMs, setAtMs] = useState(0)
  const recording = useRef<RecordingHandle>(null)
  const durationMs = (call.duration ?? 0) * 1000
  return (
    <>
      <Head call={call} />
      <div className="space-y-4">
        {call.error && <Notice tone="bad">{call.error}</Notice>}
        {call.status === 'in_progress' && (
          <Card title={t('Live')}>
            <Supervise callId={call.call_log_id} />
          </Card>
        )}
        <Card>
          <div className="grid grid-cols-2 gap-5 sm:grid-cols-3 xl:grid-cols-6">
            <Stat label={t('Length')} value={formatDuration(call.duration)} />
            <Stat label={t('Answers')} value={formatCount(call.latency.turns)} />
            <Stat label={t('Turn latency p50')} value={formatMs(call.latency.p50_ms)} />
            <Stat label={t('Turn latency p95')} value={formatMs(call.latency.p95_ms)} />
            <Stat label={t('Cost')} value={formatUsd(call.cost.total_cost)} />
            <Stat label={t('Outcome')} value={formatWord(call.disposition)} />
          </div>
        </Card>
        {call.answered_at && (
          <Recording call={call} durationMs={durationMs} onTime={setAtMs} ref={recording} turns={turns} />
        )}
        <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]">
          <Card title={t('Transcript')}>
            <Transcript atMs={atMs} call={call} onSeek={(ms) => recording.current?.seek(ms)} turns={turns} />
          </Card>
          <div className="min-w-0 space-y-4">
            <Analysis call={call} />
            <Waterfall turns={turns} />
            <Cost call={call} />
            <About call={call} />
          </div>
        </div>
        {call.call_type === 'phone' && <SipLadder callId={call.call_log_id} isRunning={isRunning(call)} />}
        <CallPath call={call} isRunning={isRunning(call)} />
        <Events callId={call.call_log_id} isRunning={isRunning(call)} />
      </div>
    </>
  )
}

function Head({ call }: { call: Call }) {
  const { may } = useSession()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const [isCalling, setCalling] = useState(false)
  const [test, setTest] = useState<string>()
  const makeTest = useWrite<{ yaml: string }, Record<string, string>>(
    (body) => [`/calls/${call.call_log_id}/to-test`, { method: 'POST', body }],
    { onDone: ({ yaml }) => setTest(yaml) },
  )
  const hangUp = useWrite(() => [`/calls/${call.call_log_id}/hangup`, { method: 'POST' }], {
    done: t('Hung up'),
    changes: ['/calls'],
  })
  const remove = useWrite(() => [`/calls/${call.call_log_id}`, { method: 'DELETE' }], {
    done: t('The call was deleted'),
    changes: ['/calls'],
    onDone: () => void navigate({ to: '/calls' }),
  })
  const { previous, next } = useNeighbours(call)
  return (
    <>
      {isCalling && (
        <PlaceCall
          agentId={call.agent_id}
          from={(call.direction === 'inbound' ? call.to_number : call.from_number) ?? undefined}
          onClose={() => setCalling(false)}
          to={(call.direction === 'inbound' ? call.from_number : call.to_number) ?? undefined}
        />
      )}
      {test !== undefined && <TestOfCall call={call} onClose={() => setTest(undefined)} yaml={test} />}
      <PageHead
        actions={
          <>
            <Neighbour call={previous} icon="up" label={t('Newer call')} />
            <Neighbour call={next} icon="down" label={t('Older call')} />
            {isRunning(call) && call.call_type === 'phone' && (
              <Button busy={hangUp.isPending} icon="hangup" kind="danger" onClick={() => hangUp.mutate()}>
                {t('Hang up')}
              </Button>
            )}
            <Menu
              items={[
                {
                  label: t('Copy link'),
                  icon: 'copy',
                  onSelect: () =>
                    void navigator.clipboard
                      .writeText(location.href)
                      .then(() => toast(t('The link works for members of this workspace'))),
                },
                call.call_type === 'phone' &&
                  !isRunning(call) && {
                    label: t('Call again'),
                    icon: 'calls',
                    onSelect: () => setCalling(true),
                  },
                may('developer') &&
                  !isRunning(call) && {
                    label: t('Make a test of it'),
                    icon: 'check',
                    onSelect: () => makeTest.mutate({}),
                  },
                may('developer') &&
                  !isRunning(call) &&
                  call.recording_url !== null && {
                    label: t('Make a test with the caller’s voice'),
                    icon: 'mic',
                    onSelect: () => makeTest.mutate({ audio: 'call', personal_data: 'keep' }),
                  },
                {
                  label: t('Its agent'),
                  icon: 'agents',
                  onSelect: () => void navigate({ to: '/agents/$agentId', params: { agentId: call.agent_id } }),
                },
                may('admin') &&
                  !isRunning(call) && {
                    label: t('Delete'),
                    icon: 'trash',
                    danger: true,
                    onSelect: () => setDeleting(true),
                  },
              ]}
              trigger={<Button aria-label={t('More')} icon="more" />}
            />
          </>
        }
        lead={`${call.call_type === 'web' ? t('In the browser') : `${formatWord(call.direction)}, ${partyOf(call)}`} · ${formatInstant(call.created_at)}`}
        title={
          <span className="flex items-center gap-3">
            <span className="truncate">{call.agent_name}</span> <CallStatus call={call} />
          </span>
        }
      />
      <Confirm
        action={t('Delete call')}
        onClose={() => setDeleting(false)}
        onConfirm={() => remove.mutateAsync()}
        open={isDeleting}
        title={t('Delete this call?')}
      >
        {t('Its recording, transcript and events are gone for good. It stays counted in reports.')}
      </Confirm>
    </>
  )
}

/** The calls before and after this one, for the arrow keys. */
function useNeighbours(call: Call): { previous: Call | undefined; next: Call | undefined } {
  const navigate = useNavigate()
  const { data: older } = useRead<Page<Call>>('/calls/logs', { query: { end_date: call.created_at, page_size: 1 } })
  const { data: all } = useRead<Page<Call>>('/calls/logs', { query: { page_size: 200 } })
  const at = all?.items.findIndex(({ call_log_id }) => call_log_id === call.call_log_id) ?? -1
  const previous = at > 0 ? all?.items[at - 1] : undefined
  const next = older?.items[0]
  useEffect(() => {
    const onKey = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent) => {
      if (
        altKey ||
        ctrlKey ||
        metaKey ||
        (target as Element).closest('input, textarea, select, [role=dialog], [role=slider], [role=menu]')
      )
        return
      const to = key === 'k' ? previous : key === 'j' ? next : undefined
      if (to) void navigate({ to: '/calls/$callId', params: { callId: to.call_log_id } })
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
  return { previous, next }
}

function Neighbour({ call, label, icon }: { call: Call | undefined; label: string; icon: 'up' | 'down' }) {
  const text = `${label} (${icon === 'up' ? 'k' : 'j'})`
  if (call === undefined) return <Button aria-label={text} disabled icon={icon} />
  return (
    <Link
      aria-label={text}
      className={`${buttonClass()} w-9 px-0!`}
      params={{ callId: call.call_log_id }}
      title={text}
      to="/calls/$callId"
    >
      <Icon name={icon} />
    </Link>
  )
}

/** Read and answered, and of these what was sound. */
function tokensOf({ llm_input_tokens: n, llm_output_tokens: out, input, output }: Call['usage']): string {
  const all = t('{n} + {out} tokens', { n: formatCount(n), out: formatCount(out) })
  if (!input.audio && !output.audio) return all
  const [heard, spoken] = [formatCount(input.audio), formatCount(output.audio)]
  return `${all}, ${t('of these {heard} + {spoken} of sound', { heard, spoken })}`
}

function Cost({ call: { cost, usage } }: { call: Call }) {
  const rows = [
    [t('Listening'), cost.cost_stt, formatDuration(usage.stt_seconds)],
    [t('Thinking'), cost.cost_llm, tokensOf(usage)],
    [t('Speaking'), cost.cost_tts, t('{n} characters', { n: formatCount(usage.tts_characters) })],
    [t('Platform'), cost.platform_cost, ''],
  ] as const
  return (
    <Card title={t('Cost')}>
      <table className="w-full text-sm">
        <tbody>
          {rows.map(([stage, usd, used]) => (
            <tr className="border-t border-line first:border-0" key={stage}>
              <th className="py-1.5 text-left font-normal" scope="row">
                {stage}
              </th>
              <td className="py-1.5 text-right text-muted">{used}</td>
              <td className="w-24 py-1.5 text-right">{formatUsd(usd)}</td>
            </tr>
          ))}
          <tr className="border-t border-line font-semibold">
            <th className="py-1.5 text-left" scope="row">
              {t('Total')}
            </th>
            <td />
            <td className="py-1.5 text-right">{formatUsd(cost.total_cost)}</td>
          </tr>
        </tbody>
      </table>
      {cost.own_keys_cost > 0 && (
        <p className="mt-2 text-xs text-muted">
          {t('Billed to your own accounts: {cost}', { cost: formatUsd(cost.own_keys_cost) })}
        </p>
      )}
      {cost.total_cost === null && (
        <p className="mt-2 text-xs text-muted">
          {t('The price of a model or voice is not known; set it in a price file.')}
        </p>
      )}
    </Card>
  )
}

function About({ call }: { call: Call }) {
  const { carrier, quality, dynamic_variables: variables } = call
  const given = Object.entries(variables).filter(([, value]) => value !== '')
  const rows: [string, ReactNode][] = [
    [t('Ended because'), formatWord(call.end_reason)],
    [t('From'), call.from_number],
    [t('To'), call.to_number],
    [t('Answered by'), call.answered_by && formatWord(call.answered_by)],
    [t('Consent'), call.consent && formatWord(call.consent)],
    [
      t('Campaign'),
      call.campaign_slug && (
        <Link
          className="text-accent hover:underline"
          key="campaign"
          params={{ slug: call.campaign_slug }}
          to="/campaigns/$slug"
        >
          {call.campaign_slug}
        </Link>
      ),
    ],
    [
      t('Batch'),
      call.batch_id && (
        <Link
          className="text-accent hover:underline"
          key="batch"
          params={{ batchId: call.batch_id }}
          to="/batches/$batchId"
        >
          {t('Open')}
        </Link>
      ),
    ],
    [t('Answered'), call.answered_at && formatExactly(call.answered_at)],
    [t('Ended'), call.ended_at && formatExactly(call.ended_at)],
    [t('Trunk'), carrier?.trunk],
    [t('SIP status'), carrier?.sip_status?.toString()],
    [t('Q.850 cause'), carrier?.q850?.toString()],
    [t('Ringing began after'), carrier?.pdd_ms === undefined ? undefined : formatMs(carrier.pdd_ms)],
    [t('Released by'), carrier?.released_by && formatWord(carrier.released_by)],
    [t('Object at'), carrier?.redress],
    [t('Codec'), quality?.codec],
    [t('Packet loss'), quality?.loss === undefined ? undefined : formatShare(quality.loss)],
    [t('Jitter'), quality?.jitter_ms === undefined ? undefined : formatMs(quality.jitter_ms)],
    [t('Line quality (MOS)'), quality?.mos?.toFixed(1)],
    [t('Call id'), <CopiedId id={call.call_log_id} key="id" />],
  ]
  const known = rows.filter(([, value]) => Boolean(value) && value !== '–')
  return (
    <Card title={t('About the call')}>
      <Facts rows={[...known, ...given.map(([name, value]) => [`{{${name}}}`, value] as const)]} />
    </Card>
  )
}
