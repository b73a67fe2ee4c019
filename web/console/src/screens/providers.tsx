import { formatMs } from '../data/format.ts'
import { type Provider, useProviders } from '../data/providers.ts'
import { useSession } from '../data/session.tsx'
import { Fault } from '../ui/fault.tsx'
import { Badge, Card, Facts, Loading, PageHead, type Tone } from '../ui/layout.tsx'

const EVERY_MS = 15_000
const STATES: Readonly<Record<Provider['health']['state'], readonly [Tone, string]>> = {
  ok: ['good', 'Ready'],
  no_key: ['neutral', 'Needs a key'],
  refused: ['bad', 'Key refused'],
  failed: ['bad', 'Fails'],
  broken: ['bad', 'Broken'],
  not_asked: ['neutral', 'Not asked yet'],
}

/** Who agents can listen, think and speak with; those that serve first. */
export function Screen() {
  const { isOperator } = useSession()
  const { data, error, refetch } = useProviders(EVERY_MS)
  const providers = data?.providers.toSorted((a, b) => rankOf(a) - rankOf(b) || a.title.localeCompare(b.title))
  return (
    <>
      <PageHead
        lead={
          isOperator
            ? 'To set one up, put its key into the file .env beside package.json, as the card says, and start Patchbay again.'
            : 'Who agents can listen, think and speak with. Whoever runs this installation sets their keys.'
        }
        title="Providers"
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
  provider: { provider, title, description, health, allowed, llm, stt, tts },
}: {
  provider: Provider
}) {
  const [tone, label] = STATES[health.state]
  const listOf = (names: readonly string[], isOpen: boolean) =>
    `${names.slice(0, 3).join(', ')}${names.length > 3 ? ` and ${names.length - 3} more` : ''}${isOpen ? ', or any other' : ''}`
  const rows = [
    ...(stt
      ? [
          [
            'Listens',
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
            'Thinks',
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
            'Speaks',
            listOf(
              tts.voices.map(({ name }) => name),
              tts.any_voice,
            ),
          ] as const,
        ]
      : []),
    ...(health.latency_ms === null ? [] : [['Answers in', formatMs(health.latency_ms)] as const]),
  ]
  const defaults = [
    stt?.is_default && 'listening',
    llm?.is_default && 'thinking',
    tts?.is_default && 'speaking',
  ].filter(Boolean)
  return (
    <Card actions={<Badge tone={allowed ? tone : 'warn'}>{allowed ? label : 'Not allowed here'}</Badge>} title={title}>
      {description && <p className="mb-3 text-sm text-muted text-pretty">{description}</p>}
      <Facts rows={[['Name', <code key="name">{provider}</code>], ...rows]} />
      {defaults.length > 0 && <p className="mt-3 text-sm">New agents get it for {defaults.join(' and ')}.</p>}
      {health.message && <p className="mt-3 rounded-md bg-sunken px-3 py-2 text-sm wrap-anywhere">{health.message}</p>}
    </Card>
  )
}
