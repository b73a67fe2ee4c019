import { Link } from '@tanstack/react-router'
import { formatList, formatMs } from '../data/format.ts'
import { type Provider, useProviders } from '../data/providers.ts'
import { useSession } from '../data/session.tsx'
import { said, t, translated } from '../language/t.ts'
import { buttonClass } from '../ui/button.tsx'
import { Fault } from '../ui/fault.tsx'
import { Badge, Card, Facts, Loading, PageHead } from '../ui/layout.tsx'
import { PROVIDER_STATES } from './provider-states.ts'

const EVERY_MS = 15_000
/** Who agents can listen, think and speak with; those that serve first. */
export function Screen() {
  const { isOperator, may } = useSession()
  const { data, error, refetch } = useProviders(EVERY_MS)
  const providers = data?.providers.toSorted((a, b) => rankOf(a) - rankOf(b) || a.title.localeCompare(b.title))
  return (
    <>
      <PageHead
        actions={
          (isOperator || may('admin')) && (
            <Link
              className={buttonClass('primary')}
              search={{ tab: isOperator ? 'providers' : 'keys' }}
              to={isOperator ? '/operator' : '/workspace'}
            >
              {t('Set keys')}
            </Link>
          )
        }
        lead={
          isOperator
            ? t('Who agents can listen, think and speak with.')
            : t(
                'Who agents can listen, think and speak with. The operator of this installation sets their keys; those of the workspace’s own accounts go before them.',
              )
        }
        title={t('Providers')}
      />
      <Fault error={error} retry={() => void refetch()} />
      {providers ? (
        <div className="grid gap-4 md:grid-cols-2 2xl:grid-cols-3">
          {providers.map((provider) => (
            <ProviderCard key={provider.provider} provider={provider} />
          ))}
        </div>
      ) : (
        !error && <Loading />
      )}
    </>
  )
}

const rankOf = ({ health: { state } }: Provider): number => (state === 'ok' ? 0 : state === 'no_key' ? 2 : 1)

function ProviderCard({
  provider: { provider, title, description, health, allowed, own_key, llm, stt, tts },
}: {
  provider: Provider
}) {
  const [tone, label] = PROVIDER_STATES[health.state]
  const listOf = (names: readonly string[], isOpen: boolean) =>
    isOpen ? t('{names}, or any other', { names: formatList(names, 3) }) : formatList(names, 3)
  const rows = [
    ...(stt
      ? [
          [
            t('Listens'),
            listOf(
              stt.models.map(({ model }) => model),
              stt.any_model,
            ),
          ] as const,
        ]
      : []),
    ...(llm
      ? [
          [
            t('Thinks'),
            listOf(
              llm.models.map(({ model }) => model),
              llm.any_model,
            ),
          ] as const,
        ]
      : []),
    ...(tts
      ? [
          [
            t('Speaks'),
            listOf(
              tts.voices.map(({ name }) => name),
              tts.any_voice,
            ),
          ] as const,
        ]
      : []),
    ...(own_key ? [[t('Whose account'), t('Yours')] as const] : []),
    ...(health.latency_ms === null ? [] : [[t('Answers in'), formatMs(health.latency_ms)] as const]),
  ]
  const defaults = [
    ...(stt?.is_default ? [t('listening')] : []),
    ...(llm?.is_default ? [t('thinking')] : []),
    ...(tts?.is_default ? [t('speaking')] : []),
  ]
  return (
    <Card
      actions={<Badge tone={allowed ? tone : 'warn'}>{allowed ? label : t('Not allowed here')}</Badge>}
      title={title}
    >
      {description && (
        <p
          className="mb-3 text-sm text-muted text-pretty"
          lang={translated(description) === undefined ? 'en' : undefined}
        >
          {said(description)}
        </p>
      )}
      <Facts rows={[[t('Name'), <code key="name">{provider}</code>], ...rows]} />
      {defaults.length > 0 && (
        <p className="mt-3 text-sm">{t('New agents get it for {tasks}.', { tasks: formatList(defaults) })}</p>
      )}
      {health.message && (
        <p
          className="mt-3 rounded-md bg-sunken px-3 py-2 text-sm wrap-anywhere"
          lang={translated(health.message) === undefined ? 'en' : undefined}
        >
          {said(health.message)}
        </p>
      )}
    </Card>
  )
}
