import { Link, useParams } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useFeed } from '../../data/feed.ts'
import { formatAgo, formatCount, formatOffset } from '../../data/format.ts'
import { useRead, useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { TestCase, TestRunDetails } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Select } from '../../ui/field.tsx'
import { Badge, Card, Loading, PageHead, Stat, type Tone } from '../../ui/layout.tsx'
import { RunState } from './run-state.tsx'

const EVERY_MS = 2_000
const CASES = 200
const TYPES = ['test.completed', 'test_run.completed'] as const
const FEED = `/events?types=${TYPES.join(',')}`

/** One run of tests: how far it is, what passed and against the run before, and what was said. */
export function Screen() {
  const { runId } = useParams({ strict: false })
  const { may } = useSession()
  const path = `/tests/runs/${runId}`
  const {
    data: run,
    error,
    refetch,
  } = useRead<TestRunDetails>(path, {
    everyMs: ({ state }) => state.data?.status === 'running' && EVERY_MS,
  })
  const running = run?.status === 'running'
  useFeed(running ? FEED : undefined, TYPES, [path])
  const { data: cases } = useRead<{ items: TestCase[] }>(`${path}/cases`, {
    query: { page_size: CASES },
    // Those of a run that is done may have been read just before its last one was.
    everyMs: ({ state }) => {
      const isBehind = run?.status === 'done' && state.data?.items.some(({ verdict }) => verdict === null) === true
      return (running || isBehind) && EVERY_MS
    },
  })
  const cancel = useWrite(() => [`${path}/cancel`, { method: 'POST' }], { changes: [path] })
  if (error) return <Fault error={error} retry={() => void refetch()} />
  if (run === undefined) return <Loading />
  const { total, passed, failed, unsure, errors, version, created_at } = run
  const done = passed + failed + unsure + errors
  return (
    <>
      <PageHead
        actions={
          running &&
          may('developer') && (
            <Button busy={cancel.isPending} onClick={() => cancel.mutate()}>
              {t('Cancel')}
            </Button>
          )
        }
        id={run.run_id}
        lead={
          <Link className="hover:underline" to="/tests">
            {t('Tests')}
          </Link>
        }
        title={
          <span className="flex items-center gap-3">
            {t('Run of tests')} <RunState run={run} />
          </span>
        }
      />
      <div className="space-y-4">
        <p className="text-muted">{t('{when}, version {version}', { when: formatAgo(created_at), version })}</p>
        {running && <progress aria-label={t('Progress')} className="w-full accent-accent" max={total} value={done} />}
        <div className="grid gap-3 sm:grid-cols-4">
          <Stat
            label={t('Passed')}
            tone="good"
            value={t('{n} of {all}', { n: formatCount(passed), all: formatCount(total) })}
          />
          <Stat label={t('Failed')} value={formatCount(failed)} {...(failed > 0 ? { tone: 'bad' as const } : {})} />
          <Stat label={t('Unsure')} value={formatCount(unsure)} {...(unsure > 0 ? { tone: 'warn' as const } : {})} />
          <Stat
            label={t('Could not be run')}
            value={formatCount(errors)}
            {...(errors > 0 ? { tone: 'bad' as const } : {})}
          />
        </div>
        {run.tests.map((test) => (
          <TestCard
            cases={(cases?.items ?? []).filter(({ name }) => name === test.name)}
            key={test.name}
            runId={run.run_id}
            test={test}
          />
        ))}
        {total > CASES && (
          <p className="text-xs text-muted">
            {t('The first {n} of {all}; {path} has all.', { n: CASES, all: total, path: `GET ${path}/cases` })}
          </p>
        )}
      </div>
    </>
  )
}

type Share = TestRunDetails['tests'][number]

function TestCard({ test, cases, runId }: { test: Share; cases: readonly TestCase[]; runId: string }) {
  const { name, passed, total, share_low, share_high, before, published } = test
  const percent = (share: number) => Math.round(share * 100)
  return (
    <Card
      actions={
        <span className="flex items-center gap-2 text-sm text-muted">
          {before !== null && (before.passed !== passed || before.total !== total) && (
            <span>{t('before: {n} of {all}', { n: before.passed, all: before.total })}</span>
          )}
          {published !== null && (published.passed !== passed || published.total !== total) && (
            <span>
              {t('version {version}: {n} of {all}', {
                version: published.version,
                n: published.passed,
                all: published.total,
              })}
            </span>
          )}
          {total > 1 && <span>{t('{low}–{high} %', { low: percent(share_low), high: percent(share_high) })}</span>}
          <Badge tone={passed === total ? 'good' : 'bad'}>{t('{n} of {all}', { n: passed, all: total })}</Badge>
        </span>
      }
      title={name}
    >
      <ul className="space-y-2">
        {cases.map((one) => (
          <CaseItem key={one.case_id} one={one} runId={runId} />
        ))}
      </ul>
    </Card>
  )
}

const TONES: Readonly<Record<string, Tone>> = { pass: 'good', fail: 'bad', unsure: 'warn', error: 'bad' }
const WORDS: Readonly<Record<string, string>> = {
  pass: t('Passed'),
  fail: t('Failed'),
  unsure: t('Unsure'),
  error: t('Could not be run'),
}

const VerdictBadge = ({ verdict }: { verdict: string | null }) => (
  <Badge tone={TONES[verdict ?? ''] ?? 'neutral'}>{WORDS[verdict ?? ''] ?? t('Waits')}</Badge>
)

/** A time a test was run: its reason, and opened its conversation and facts. */
function CaseItem({ one, runId }: { one: TestCase; runId: string }) {
  const [open, setOpen] = useState(one.verdict !== null && one.verdict !== 'pass')
  return (
    <li className="rounded-md border border-line">
      <button
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-3 py-2 text-left"
        onClick={() => setOpen(!open)}
        type="button"
      >
        <VerdictBadge verdict={one.verdict} />
        <span className="min-w-0 flex-1 wrap-anywhere">{one.why ?? t('Run {n}', { n: one.repeat })}</span>
      </button>
      {open && (
        <div className="grid gap-4 border-t border-line p-3 lg:grid-cols-2">
          <ol className="space-y-1">
            {one.turns.map(({ role, text, start_ms, interrupted }) => (
              <li key={`${role} ${start_ms}`}>
                <span className={`text-xs font-semibold ${role === 'user' ? 'text-caller' : 'text-accent-ink'}`}>
                  {role === 'user' ? t('Caller') : t('Agent')} {formatOffset(start_ms)}
                </span>{' '}
                {interrupted && <Badge tone="warn">{t('interrupted')}</Badge>}
                <p className="wrap-anywhere">{text}</p>
              </li>
            ))}
            {one.tools.map(({ name, arguments: given, result, at_ms }) => (
              <li className="text-sm text-muted wrap-anywhere" key={`${name} ${at_ms}`}>
                {formatOffset(at_ms)} {name} {JSON.stringify(given)} → {result}
              </li>
            ))}
          </ol>
          <ul className="space-y-1">
            {one.facts.map(({ fact, verdict, why }) => (
              <Judged key={fact} verdict={verdict} what={fact} why={why} />
            ))}
            {one.judged.map(({ sentence, verdict, why, marked }) => (
              <Judged key={sentence} verdict={verdict} what={sentence} why={why}>
                <MarkSentence at={`/tests/runs/${runId}/cases/${one.case_id}`} marked={marked} sentence={sentence} />
              </Judged>
            ))}
          </ul>
        </div>
      )}
    </li>
  )
}

interface JudgedProps {
  what: string
  verdict: string
  why?: string | undefined
  children?: ReactNode
}

const Judged = ({ what, verdict, why, children }: JudgedProps) => (
  <li className="wrap-anywhere">
    <VerdictBadge verdict={verdict} /> {what}
    {why !== undefined && <span className="text-muted"> – {why}</span>}
    {children}
  </li>
)

/** Whether the sentence is true, as the reader has it: the judge is measured by that. */
function MarkSentence({ at, sentence, marked }: { at: string; sentence: string; marked: string | null }) {
  const { may } = useSession()
  const mark = useWrite<unknown, string>(
    (verdict) => [`${at}/marks`, { method: 'PUT', body: { sentence, verdict: verdict || null } }],
    { changes: ['/tests/runs', '/tests/judge'] },
  )
  if (!may('developer')) return null
  return (
    <Select
      aria-label={t('Your verdict on “{sentence}”', { sentence })}
      className="mt-1 max-w-56"
      onChange={({ target }) => mark.mutate(target.value)}
      value={marked ?? ''}
    >
      <option value="">{t('Is that right?')}</option>
      <option value="pass">{t('The sentence is true')}</option>
      <option value="fail">{t('The sentence is not true')}</option>
    </Select>
  )
}
