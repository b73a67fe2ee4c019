import { useState } from 'react'
import { useFeed } from '../../data/feed.ts'
import { formatWord } from '../../data/format.ts'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Call } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Facts, Notice } from '../../ui/layout.tsx'
import { isRunning } from '../call-status.tsx'

const TYPES = ['call.analyzed']
const FEED = `/events?types=${TYPES.join(',')}`

/** What the call came to, as the agent's analysis found it. */
export function Analysis({ call }: { call: Call }) {
  const { may } = useSession()
  const { call_log_id, summary, analysis } = call
  const [isAsked, setAsked] = useState(false)
  const path = `/calls/${call_log_id}`
  const again = useWrite(() => [`${path}/analyze`, { method: 'POST' }], {
    done: t('It is read again; what is found appears here in some seconds'),
    onDone: () => setAsked(true),
  })
  const isAwaited = isAsked || (call.answered_at !== null && analysis === null && summary === null)
  useFeed(isAwaited && !isRunning(call) ? FEED : undefined, TYPES, [path])
  if (isRunning(call) || call.answered_at === null) return null
  const data = Object.entries(analysis?.data ?? {})
  return (
    <Card
      actions={
        may('developer') && (
          <Button busy={again.isPending} onClick={() => again.mutate()} size="sm">
            {t('Analyse again')}
          </Button>
        )
      }
      title={t('Analysis')}
    >
      <div className="space-y-3">
        {analysis?.success != null && (
          <p className="flex items-start gap-2">
            <Badge tone={analysis.success ? 'good' : 'bad'}>
              {analysis.success ? t('A success') : t('No success')}
            </Badge>
            <span className="min-w-0 text-sm text-pretty wrap-anywhere">{analysis.reason}</span>
          </p>
        )}
        {summary ? (
          <p className="text-pretty wrap-anywhere">{summary}</p>
        ) : (
          <p className="text-muted">
            {t('Nothing is known of it yet. What its agent’s analysis asks for appears here.')}
          </p>
        )}
        <Facts
          rows={[
            ...(analysis?.disposition ? [[t('Came to'), formatWord(analysis.disposition)] as const] : []),
            ...data.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const),
          ]}
        />
        {analysis?.error && <Notice tone="warn">{analysis.error}</Notice>}
      </div>
    </Card>
  )
}
