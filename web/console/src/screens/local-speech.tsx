import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import { formatBytes, formatCount } from '../data/format.ts'
import { useProviders } from '../data/providers.ts'
import { useRead, useWrite } from '../data/queries.ts'
import type { Agent, LocalModels } from '../data/types.ts'
import { language } from '../language/language.ts'
import { t } from '../language/t.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Fault } from '../ui/fault.tsx'
import { Card, Notice } from '../ui/layout.tsx'

const PATH = '/operator/models'
const EVERY_MS = 15_000
const RUNNING_EVERY_MS = 1_000
/** What a connection is taken to carry before the first byte came. */
const ASSUMED_BYTES_A_SECOND = 25e6 / 8

type Model = LocalModels['models'][number]

/** For the operator of an installation whose agents know fixed sentences alone: a download, or a key, and they understand speech. */
export function LocalSpeech({ agents }: { agents: readonly Agent[] }) {
  const { data: providers } = useProviders()
  const heardBy = providers?.providers.find(({ stt }) => stt?.is_default)
  const deaf = agents.filter(({ STT_provider }) =>
    providers?.providers.some(({ provider, stt }) => provider === STT_provider && stt?.understands),
  )
  const isOpen = (heardBy !== undefined && heardBy.stt?.understands !== null) || deaf.length > 0
  const models = useRead<LocalModels>(PATH, {
    enabled: providers !== undefined && isOpen,
    everyMs: ({ state }) => (state.data?.download?.state === 'running' ? RUNNING_EVERY_MS : EVERY_MS),
  })
  if (!isOpen || models.data === undefined || (heardBy?.stt?.understands === null && models.data.download === null)) {
    return null
  }
  return <Offer agents={deaf} models={models.data} />
}

function Offer({
  models: { available, engine, models, download },
  agents,
}: {
  models: LocalModels
  agents: readonly Agent[]
}) {
  const wanted = [smallest(models, 'stt'), smallest(models, 'tts')].filter((model) => model !== undefined)
  const missing = wanted.filter(({ here }) => !here)
  const bytes =
    1e6 * missing.reduce((sum, { megabytes }) => sum + megabytes, engine?.here ? 0 : (engine?.megabytes ?? 0))
  const begin = useWrite<LocalModels>(
    () => [PATH, { method: 'POST', body: { models: wanted.map(({ model }) => model) } }],
    { changes: [PATH], quiet: true },
  )
  const isRunning = download?.state === 'running'
  const isDone = download?.state === 'done'
  return (
    <Card className="border-accent! bg-accent-soft!">
      <h2 className="text-md">{t('Have your agents understand speech')}</h2>
      <p className="mt-0.5 mb-3 max-w-2xl text-pretty">
        {t(
          'Until then they know a few fixed sentences. Download a recogniser and a voice that run on this machine, without a key, or paste the key of a provider.',
        )}
      </p>
      {isRunning && <Progress download={download} />}
      {isDone && <HandOver agents={agents} models={wanted} />}
      {!isRunning && !isDone && (
        <div className="flex flex-wrap items-center gap-3">
          {available && wanted.length > 0 && (
            <Button busy={begin.isPending} icon="download" kind="primary" onClick={() => begin.mutate()}>
              {t('Download {size}', { size: formatBytes(bytes) })}
            </Button>
          )}
          <Link className={buttonClass(available ? 'plain' : 'primary')} search={{ tab: 'providers' }} to="/operator">
            {t('Paste a key')}
          </Link>
          {available && (
            <span className="text-sm text-muted">
              {t('{time} at 25 Mbit/s.', { time: timeFor(bytes / ASSUMED_BYTES_A_SECOND) })}{' '}
              <span lang="en">{wanted.map(({ title, license }) => `${title} (${license})`).join(', ')}</span>
            </span>
          )}
        </div>
      )}
      <div className="mt-3 space-y-2 empty:hidden">
        <Fault error={begin.error} />
        {download?.state === 'failed' && <Notice tone="bad">{download.message ?? t('The download failed')}</Notice>}
      </div>
    </Card>
  )
}

/** The smallest that knows the language of the page. */
function smallest(models: readonly Model[], kind: Model['kind']): Model | undefined {
  const fitting = models.filter((one) => one.kind === kind && one.languages.includes(language))
  return fitting.toSorted((a, b) => a.megabytes - b.megabytes)[0]
}

function timeFor(seconds: number): string {
  const minutes = Math.ceil(seconds / 60)
  return minutes <= 1 ? t('About a minute') : t('About {n} minutes', { n: formatCount(minutes) })
}

function Progress({ download: { bytes, of_bytes, started_at } }: { download: NonNullable<LocalModels['download']> }) {
  const share = of_bytes === 0 ? 0 : bytes / of_bytes
  const seconds = (Date.now() - Date.parse(started_at)) / 1_000
  const left = bytes > 0 && seconds > 3 ? ((of_bytes - bytes) * seconds) / bytes : undefined
  return (
    <div>
      <div
        aria-label={t('Download')}
        aria-valuemax={100}
        aria-valuemin={0}
        aria-valuenow={Math.round(share * 100)}
        className="h-2 overflow-hidden rounded-full bg-surface"
        role="progressbar"
      >
        <div className="h-full rounded-full bg-accent transition-[width]" style={{ width: `${share * 100}%` }} />
      </div>
      <p className="mt-1.5 text-sm text-muted">
        {t('{done} of {all}', { done: formatBytes(bytes), all: formatBytes(of_bytes) })}
        {left === undefined ? '' : ` · ${timeFor(left)}`}
      </p>
    </div>
  )
}

/** Gives what came to the agents that know fixed sentences alone, once. */
function HandOver({ agents, models }: { agents: readonly Agent[]; models: readonly Model[] }) {
  const [first] = agents
  const speaks = models.some(({ kind }) => kind === 'tts')
  const body = { STT_provider: 'local', ...(speaks && { TTS_provider: 'local' }) }
  const give = useWrite<Agent, string>((id) => [`/agents/${id}`, { method: 'PUT', body }], {
    changes: ['/agents', '/providers'],
    quiet: true,
  })
  const { mutate, isIdle } = give
  useEffect(() => {
    if (first && isIdle) mutate(first.agent_id)
  }, [first, isIdle, mutate])
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Notice tone="good">{t('It is here. New agents listen and speak with it.')}</Notice>
      {first && (
        <Link
          className={buttonClass('primary')}
          params={{ agentId: first.agent_id }}
          search={{ tab: 'talk' }}
          to="/agents/$agentId"
        >
          {t('Talk to {name}', { name: first.agent_name })}
        </Link>
      )}
      <Fault error={give.error} />
    </div>
  )
}
