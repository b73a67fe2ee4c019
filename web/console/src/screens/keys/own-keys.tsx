import { useState } from 'react'
import { formatInstant, formatList } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { OwnKey } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Card, Loading, Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { tasksOf } from '../provider-states.ts'
import { KeyDialog } from './key-dialog.tsx'

const PATH = '/providers/keys'

/** Keys of the workspace's own accounts at providers. */
export function OwnKeys() {
  const { data, error } = useRead<{ allowed: boolean; providers: OwnKey[] }>(PATH)
  const [edited, setEdited] = useState<string>()
  if (error) return <Fault error={error} />
  if (data === undefined) return <Loading />
  const provider = data.providers.find((one) => one.provider === edited)
  return (
    <>
      {!data.allowed && (
        <Notice tone="warn">{t('The operator of this installation allows this workspace no keys of its own.')}</Notice>
      )}
      <Card flush title={t('Keys of your own accounts')}>
        <p className="px-4 pb-3 text-sm text-muted">
          {t(
            'Agents of this workspace use such a key before the operator’s, and the provider bills your account. It is stored encrypted and never shown again.',
          )}
        </p>
        <Table
          columns={[
            { name: t('Provider'), cell: ({ title }) => <span className="font-medium">{title}</span> },
            { name: t('For'), wide: true, cell: ({ kinds }) => formatList(tasksOf(kinds)) },
            { name: t('Whose account'), cell: accountOf },
            {
              name: '',
              align: 'end',
              cell: ({ provider: name, title, set_at }) => (
                <Button
                  aria-label={t('Key of {name}', { name: title })}
                  disabled={!data.allowed && set_at === null}
                  onClick={() => setEdited(name)}
                  size="sm"
                >
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
          canRemove={provider.set_at !== null}
          changes={[PATH]}
          onClose={() => setEdited(undefined)}
          path={`/providers/${provider.provider}`}
          title={provider.title}
          variables={provider.variables.map(({ variable, hint }) => ({
            variable,
            isFixed: !data.allowed,
            hint: storedHint(provider.set_at, hint),
          }))}
        />
      )}
    </>
  )
}

function accountOf({ account, variables: [key] }: OwnKey): string {
  if (account === null) return t('None')
  if (account === 'installation') return t('The operator’s')
  return key?.hint ? t('Yours; the key ends in {hint}', { hint: key.hint }) : t('Yours')
}

/** What is stored, in words. */
export function storedHint(setAt: string | null, hint: string | null): string | undefined {
  if (setAt === null) return undefined
  const day = formatInstant(setAt)
  return hint
    ? t('Stored on {day}; ends in {hint}. Paste another to replace it.', { day, hint })
    : t('Stored on {day}. Paste another to replace it.', { day })
}
