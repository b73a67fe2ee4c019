import { formatCount } from '../../data/format.ts'
import { useRead } from '../../data/queries.ts'
import type { JudgeAgreement } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Card } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'

const percent = (share: number) => Math.round(share * 100)

/** How often each judge said what people marked; nothing where nobody has marked a sentence. */
export function JudgeAgreementCard() {
  const { data: judges = [] } = useRead<JudgeAgreement[]>('/tests/judge/agreement')
  if (judges.length === 0) return null
  return (
    <Card className="mt-4" flush title={t('How far judges can be trusted')}>
      <p className="px-4 pt-3 text-sm text-muted">
        {t('Of the sentences that people have marked as true or not true, with intervals of 95 % confidence.')}
      </p>
      <Table
        columns={[
          { name: t('Judge'), cell: ({ model }) => <span className="wrap-anywhere">{model}</span> },
          { name: t('Rubric'), align: 'end', wide: true, cell: ({ prompt_version }) => prompt_version },
          { name: t('Marked'), align: 'end', cell: ({ marked }) => formatCount(marked) },
          {
            name: t('Same verdict'),
            align: 'end',
            cell: ({ agreed, disagreed }) =>
              t('{n} of {all}', { n: formatCount(agreed), all: formatCount(agreed + disagreed) }),
          },
          {
            name: t('Agreement'),
            align: 'end',
            cell: ({ agreed, disagreed, share_low, share_high }) =>
              agreed + disagreed === 0
                ? '–'
                : t('{low}–{high} %', { low: percent(share_low), high: percent(share_high) }),
          },
          { name: t('Unsure'), align: 'end', wide: true, cell: ({ unsure }) => formatCount(unsure) },
        ]}
        label={t('How far judges can be trusted')}
        rowKey={({ model, prompt_version }) => `${model} ${prompt_version}`}
        rows={judges}
      />
    </Card>
  )
}
