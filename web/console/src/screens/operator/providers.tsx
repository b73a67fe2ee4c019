import { useState } from 'react'
import { formatList } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { KeyedProvider } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Badge, Card, Loading } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { KeyDialog } from '../keys/key-dialog.tsx'
import { storedHint } from '../keys/own-keys.tsx'
import { PROVIDER_STATES, tasksOf } from '../provider-states.ts'

const PATH = '/operator/providers'
const IN_ENVIRONMENT = t(
  'Set in the environment of this installation, which wins. To set it here, remove it there and restart.',
)

/** Keys of providers and carriers: pasted, tested, and used at once. */
export function Providers() {
  const { data, error } = useRead<{ providers: KeyedProvider[] }>(PATH)
  const [edited, setEdited] = useState<string>()
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  const provider = data.providers.find((one) => one.provider === edited)
  return (
    <>
      <Card flush title={t('Keys of providers and carriers')}>
        <p className="px-4 pb-3 text-sm text-muted">
          {t(
            'A key that you paste is used at once by all calls that begin. It is stored encrypted and never shown again.',
          )}
        </p>
        <Table
          columns={[
            { name: t('Provider'), cell: ({ title }) => <span className="font-medium">{title}</span> },
            { name: t('For'), wide: true, cell: ({ kinds }) => formatList(tasksOf(kinds)) },
            { name: t('Key'), cell: (one) => keySentence(one) },
            { name: t('State'), cell: ({ health }) => <StateBadge health={health} /> },
            {
              name: '',
              align: 'end',
              cell: ({ provider: name, title }) => (
                <Button aria-label={t('Key of {name}', { name: title })} onClick={() => setEdited(name)} size="sm">
                  {t('Key')}
                </Button>
              ),
            },
          ]}
          label={t('Providers')}
          rowKey={({ provider: name }) => name}
          rows={data.providers}
        />
      </Card>
      {provider && (
        <KeyDialog
          canRemove={provider.variables.some(({ source }) => source === 'stored')}
          changes={[PATH]}
          health={provider.health}
          onClose={() => setEdited(undefined)}
          path={`${PATH}/${provider.provider}`}
          title={provider.title}
          variables={provider.variables.map(({ variable, source, hint, set_at }) => ({
            variable,
            isFixed: source === 'environment',
            hint: source === 'environment' ? IN_ENVIRONMENT : storedHint(set_at, hint),
          }))}
        />
      )}
    </>
  )
}

function StateBadge({ health }: { health: KeyedProvider['health'] }) {
  const [tone, label] = PROVIDER_STATES[health.state]
  return <Badge tone={tone}>{label}</Badge>
}

/** Where the key comes from. */
function keySentence({ variables: [key] }: KeyedProvider): string {
  if (key?.source === 'environment') return t('Set in the environment')
  if (key?.source !== 'stored') return t('None')
  return key.hint ? t('Ends in {hint}', { hint: key.hint }) : t('Stored')
}
