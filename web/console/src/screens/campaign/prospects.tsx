import { useState } from 'react'
import { formatDayTime, formatWord } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Prospect } from '../../data/types.ts'
import { said, t, wordOf } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Input } from '../../ui/field.tsx'
import { FilterSelect } from '../../ui/filter-select.tsx'
import { Badge, Card, Empty } from '../../ui/layout.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'

/** Why somebody is held: the API's sentence, and in another language the word for it. */
const heldFor = ({ reason, sentence }: NonNullable<Prospect['held']>): string =>
  wordOf(reason) === undefined ? said(sentence) : formatWord(reason)

/** The people of a campaign, with what came of each and why one is held. */
export function Prospects({ slug }: { slug: string }) {
  const { may } = useSession()
  const [text, setText] = useState('')
  const [status, setStatus] = useState('')
  const cancel = useWrite<Prospect, Prospect>(
    ({ uuid }) => [`/api/v/prospect/${uuid}/`, { method: 'PATCH', body: { resolution: 'canceled' } }],
    {
      done: t('Is not called any more'),
      changes: ['/api/v'],
    },
  )
  return (
    <Card
      actions={
        <>
          <FilterSelect
            all={t('Everybody')}
            label={t('Status')}
            onChange={setStatus}
            options={[
              ['waiting', t('Waiting')],
              ['calling', t('Calling')],
              ['resolved', t('Done')],
            ]}
            value={status}
          />
          <Input
            aria-label={t('Search people')}
            className="h-8! w-40!"
            onChange={(event) => setText(event.target.value)}
            placeholder={t('Search')}
            value={text}
          />
        </>
      }
      flush
      title={t('People')}
    >
      <VirtualList<Prospect>
        empty={
          <Empty icon="campaigns" title={text || status ? t('Nobody matches') : t('Nobody yet')}>
            {text || status ? t('Search for something else.') : t('Upload a file with people to call.')}
          </Empty>
        }
        everyMs={4_000}
        key={`${text} ${status}`}
        label={t('People')}
        path={`/api/v/campaign/${slug}/prospects/`}
        query={{ q: text, status }}
        row={(prospect) => {
          const {
            primary_phone,
            first_name,
            last_name,
            resolution,
            status: now,
            held,
            attempts,
            next_attempt_at,
          } = prospect
          return (
            <div className="grid h-full grid-cols-[minmax(0,1fr)_auto_auto] items-center gap-3 px-4 text-sm md:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_4rem_6.500rem_2rem]">
              <span className="min-w-0">
                <span className="block truncate font-medium">
                  {`${first_name} ${last_name}`.trim() || primary_phone}
                </span>
                <span className="block truncate text-xs text-muted">{primary_phone}</span>
              </span>
              <span className="hidden truncate text-muted md:block" title={held ? said(held.sentence) : undefined}>
                {(held && heldFor(held)) ??
                  (next_attempt_at
                    ? t('Next try {next_attempt_at}', { next_attempt_at: formatDayTime(next_attempt_at) })
                    : '')}
              </span>
              <span className="hidden text-right text-muted md:block">
                {attempts === 0 ? '' : attempts === 1 ? t('1 try') : t('{attempts} tries', { attempts })}
              </span>
              <span className="justify-self-start">
                <Badge
                  tone={now === 'calling' ? 'accent' : resolution === 'reached' ? 'good' : held ? 'warn' : 'neutral'}
                >
                  {formatWord(resolution ?? (held ? 'held' : now))}
                </Badge>
              </span>
              {may('developer') && now === 'waiting' ? (
                <Button
                  aria-label={t('Call {primary_phone} no more', { primary_phone })}
                  icon="close"
                  kind="quiet"
                  onClick={() => cancel.mutate(prospect)}
                  size="sm"
                />
              ) : (
                <span />
              )}
            </div>
          )
        }}
        rowKey={({ uuid }) => uuid}
      />
    </Card>
  )
}
