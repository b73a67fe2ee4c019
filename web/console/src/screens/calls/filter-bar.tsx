import { formatWord } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import { SPANS } from '../../data/spans.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { AgentOptions } from '../../ui/agent-options.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { type Filters, SavedFilters } from '../../ui/list/saved-filters.tsx'
import { SearchInput } from '../../ui/list/search-input.tsx'

const STATUSES = ['queued', 'ringing', 'in_progress', 'completed', 'failed', 'busy', 'no_answer', 'canceled']

interface FilterBarProps {
  filters: Filters
  /** Part of a number, or words. */
  sought: string
  onChange: (change: Filters) => void
  onReplace: (filters: Filters) => void
  onSearch: (sought: string) => void
}

export function FilterBar({ filters, sought, onChange, onReplace, onSearch }: FilterBarProps) {
  const { data: agents } = useRead<Agent[]>('/agents')
  const choose = (name: string) => ({
    value: filters[name] ?? '',
    onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value }),
    className: 'w-auto! max-w-48',
  })
  return (
    <div className="mb-4 flex flex-wrap gap-2">
      <SearchInput
        className="w-auto! min-w-44 flex-1 sm:max-w-72"
        label={t('Search calls')}
        onSearch={onSearch}
        placeholder={t('Part of a number, or words said')}
        value={sought}
      />
      <Select aria-label={t('Agent')} {...choose('agent_id')}>
        <AgentOptions agents={agents} />
      </Select>
      <Select aria-label={t('Status')} {...choose('status')}>
        <option value="">{t('Any status')}</option>
        {STATUSES.map((status) => (
          <option key={status} value={status}>
            {status === 'in_progress' ? t('Live') : formatWord(status)}
          </option>
        ))}
      </Select>
      <Select aria-label={t('Kind')} {...choose('call_type')}>
        <option value="">{t('Any kind')}</option>
        <option value="phone">{t('Phone')}</option>
        <option value="web">{t('Web')}</option>
      </Select>
      <Select aria-label={t('Direction')} {...choose('direction')}>
        <option value="">{t('In and out')}</option>
        <option value="inbound">{t('Inbound')}</option>
        <option value="outbound">{t('Outbound')}</option>
      </Select>
      <Select aria-label={t('Time')} {...choose('since')}>
        <option value="">{t('Any time')}</option>
        {SPANS.map(([days, label]) => (
          <option key={days} value={days}>
            {label}
          </option>
        ))}
      </Select>
      {(['campaign', 'batch_id', 'disposition'] as const).map(
        (name) =>
          filters[name] && (
            <Button key={name} onClick={() => onChange({ [name]: '' })}>
              {formatWord(name.replace('_id', ''))}: {name === 'batch_id' ? t('one') : filters[name]}
              <Icon name="close" size={14} />
            </Button>
          ),
      )}
      <SavedFilters filters={filters} list="calls" onChoose={onReplace} />
      {(Object.keys(filters).length > 0 || sought !== '') && (
        <Button
          kind="quiet"
          onClick={() => {
            onSearch('')
            onReplace({})
          }}
        >
          {t('Clear')}
        </Button>
      )}
    </div>
  )
}
