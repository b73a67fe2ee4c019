import { useState } from 'react'
import { formatMs } from '../../../data/format.ts'
import { useWrite } from '../../../data/queries.ts'
import { useSession } from '../../../data/session.tsx'
import type { Tool } from '../../../data/types.ts'
import { said, t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Field, Textarea } from '../../../ui/field.tsx'
import { Badge, Notice } from '../../../ui/layout.tsx'

interface ToolTryProps {
  agentId: string
  /** The tool as the form has it; undefined where something is wrong with it, which the form then shows. */
  read: () => Tool | undefined
  /** JSON with its arguments, sent until others are written. */
  sample: string
}

interface Tried {
  ok: boolean
  output: string
  fault: string | null
  duration_ms: number
}

/** Sends an HTTP tool's request once, as the form has it, and shows what the model would read. */
export function ToolTry({ agentId, read, sample }: ToolTryProps) {
  const { isOperator } = useSession()
  const [written, setWritten] = useState<string>()
  const text = written ?? sample
  const [fault, setFault] = useState<string>()
  const attempt = useWrite<Tried, { tool: Tool; given: unknown }>(
    ({ tool, given }) => [`/agents/${agentId}/tools/try`, { method: 'POST', body: { tool, arguments: given } }],
    { quiet: true },
  )
  const send = () => {
    const tool = read()
    if (tool === undefined) return
    try {
      setFault(undefined)
      attempt.mutate({ tool, given: JSON.parse(text) })
    } catch (error) {
      setFault(t('is no JSON: {message}', { message: (error as Error).message }))
    }
  }
  return (
    <section aria-label={t('Test')} className="space-y-3 rounded-md bg-sunken p-3">
      <Field fault={fault} hint={t('The request is really sent.')} label={t('Test with these arguments')}>
        <Textarea
          className="font-mono text-sm"
          onChange={({ target }) => setWritten(target.value)}
          rows={2}
          value={text}
        />
      </Field>
      <div className="flex items-center gap-3">
        <Button busy={attempt.isPending} icon="play" onClick={send} size="sm">
          {t('Test')}
        </Button>
        {attempt.data && (
          <>
            <Badge tone={attempt.data.ok ? 'good' : 'bad'}>{attempt.data.ok ? t('Worked') : t('Failed')}</Badge>
            <span className="text-sm text-muted">{formatMs(attempt.data.duration_ms)}</span>
          </>
        )}
      </div>
      <Fault error={attempt.error} />
      {attempt.data?.fault && (
        <Notice tone="bad">
          {said(attempt.data.fault)}
          {isOperator && ` ${t('PATCHBAY_TOOLS_ALLOW_NET allows addresses of your own network.')}`}
        </Notice>
      )}
      {attempt.data && (
        <>
          <p className="text-xs text-muted">{t('What the model would read')}</p>
          <pre
            className="max-h-48 overflow-auto rounded-md border border-line bg-surface p-2 font-mono text-xs whitespace-pre-wrap wrap-anywhere"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
          >
            {attempt.data.output}
          </pre>
        </>
      )}
    </section>
  )
}
