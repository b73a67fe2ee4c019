import { Link, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { formatCount, formatDuration, formatMs, formatShare } from '../data/format.ts'
import { useRead, useWrite } from '../data/queries.ts'
import { useSession } from '../data/session.tsx'
import type { Trunk } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button } from '../ui/button.tsx'
import { Confirm } from '../ui/confirm.tsx'
import { ListCard } from '../ui/list-page.tsx'
import { TrunkDialog } from './trunk/trunk-dialog.tsx'
import { TrunkState } from './trunk/trunk-state.tsx'

const EVERY_MS = 5_000

/** Lines of carriers and telephone systems, with how they stand. */
export function Trunks() {
  const { may } = useSession()
  const list = useRead<Trunk[]>('/trunks', { everyMs: EVERY_MS })
  const { new: isNew } = useSearch({ strict: false })
  const [edited, setEdited] = useState<Trunk | 'new' | undefined>(isNew === true ? 'new' : undefined)
  const [removed, setRemoved] = useState<Trunk>()
  const remove = useWrite(() => [`/trunks/${removed?.trunk_id}`, { method: 'DELETE' }], {
    done: t('Removed'),
    changes: ['/trunks'],
  })
  const add = may('developer') && (
    <Button icon="plus" kind="primary" onClick={() => setEdited('new')}>
      {t('Add a trunk')}
    </Button>
  )
  return (
    <>
      <ListCard
        add={add}
        columns={[
          {
            name: t('Trunk'),
            cell: ({ name, trunk_id }) => (
              <Link
                className="font-medium hover:underline"
                params={{ trunkId: trunk_id }}
                to="/numbers/trunks/$trunkId"
              >
                {name}
              </Link>
            ),
          },
          { name: t('Host'), wide: true, cell: ({ host, transport }) => `${host} · ${transport.toUpperCase()}` },
          { name: t('State'), cell: (trunk) => <TrunkState trunk={trunk} /> },
          { name: t('Calls now'), align: 'end', wide: true, cell: ({ state }) => formatCount(state?.active_calls) },
          { name: t('Answered'), align: 'end', wide: true, cell: ({ state }) => formatShare(state?.asr) },
          {
            name: t('Average length'),
            align: 'end',
            wide: true,
            cell: ({ state }) => formatDuration(state?.acd_seconds),
          },
          { name: t('Ring after'), align: 'end', wide: true, cell: ({ state }) => formatMs(state?.pdd_ms) },
          ...(may('developer')
            ? [
                {
                  name: '',
                  align: 'end' as const,
                  cell: (trunk: Trunk) => (
                    <span className="inline-flex gap-1">
                      <Button
                        aria-label={t('Edit {name}', { name: trunk.name })}
                        onClick={() => setEdited(trunk)}
                        size="sm"
                      >
                        {t('Edit')}
                      </Button>
                      <Button
                        aria-label={t('Remove {name}', { name: trunk.name })}
                        icon="trash"
                        kind="quiet"
                        onClick={() => setRemoved(trunk)}
                        size="sm"
                      />
                    </span>
                  ),
                },
              ]
            : []),
        ]}
        empty={{
          icon: 'calls',
          title: t('No SIP trunks'),
          children: t(
            'A trunk joins Patchbay to a carrier or a telephone system: its host, and a user name and password where it asks for them.',
          ),
        }}
        label={t('SIP trunks')}
        list={list}
        rowKey={({ trunk_id }) => trunk_id}
        title={({ length }) => (length === 1 ? t('1 trunk') : t('{n} trunks', { n: length }))}
      />
      {edited && <TrunkDialog onClose={() => setEdited(undefined)} trunk={edited === 'new' ? undefined : edited} />}
      <Confirm
        action={t('Remove')}
        onClose={() => setRemoved(undefined)}
        onConfirm={() => remove.mutateAsync()}
        open={removed !== undefined}
        title={t('Remove the trunk {name}?', { name: removed?.name })}
      >
        {t('Its numbers can no longer be reached, and its stored password is gone.')}
      </Confirm>
    </>
  )
}
