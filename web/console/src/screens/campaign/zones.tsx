import { formatCount, formatDayTime, formatList } from '../../data/format.ts'
import type { CampaignState } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Badge, Card } from '../../ui/layout.tsx'

type Zone = CampaignState['prospects']['by_zone'][number]

const MOST_SHOWN = 8
const MOST_NAMES = 2

/** Who waits, by where the same hours hold, and when they may be called. */
export function Zones({ zones }: { zones: readonly Zone[] }) {
  if (zones.length === 0) return null
  return (
    <Card title={t('Who waits, and where')}>
      <ul aria-label={t('Who waits, and where')} className="space-y-2 text-sm">
        {zones.slice(0, MOST_SHOWN).map((zone) => (
          <li className="flex items-center gap-3" key={[...zone.zones, ...zone.regions].join(' ')}>
            <span className="min-w-0 flex-1 truncate" title={[...zone.zones, ...zone.regions].join(', ')}>
              {zone.zones.length === 0 ? t('Nobody knows where') : formatList(zone.zones.map(cityOf), MOST_NAMES)}{' '}
              <span className="text-muted">{zone.regions.at(-1)}</span>
            </span>
            <span>{formatCount(zone.waiting)}</span>
            <When zone={zone} />
          </li>
        ))}
      </ul>
      {zones.length > MOST_SHOWN && (
        <p className="mt-2 text-sm text-muted">{t('and {n} more zones', { n: zones.length - MOST_SHOWN })}</p>
      )}
    </Card>
  )
}

function When({ zone: { callable_now, opens_at } }: { zone: Zone }) {
  if (callable_now > 0) return <Badge tone="good">{t('callable now')}</Badge>
  return <Badge tone="warn">{opens_at ? t('from {at}', { at: formatDayTime(opens_at) }) : t('not now')}</Badge>
}

/** `America/Los_Angeles` → `Los Angeles`. */
const cityOf = (zone: string): string => (zone.split('/').at(-1) ?? zone).replaceAll('_', ' ')
