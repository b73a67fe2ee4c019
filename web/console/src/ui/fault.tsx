import { ApiError } from '../data/api.ts'
import { t } from '../language/t.ts'
import { Button } from './button.tsx'
import { Notice } from './layout.tsx'

interface FaultProps {
  error: Error | null | undefined
  retry?: () => void
  /** Also what is said at fields, which are on other tabs. */
  isWhole?: boolean
}

/** An error as a sentence, with the way to try again. */
export function Fault({ error, retry, isWhole = false }: FaultProps) {
  if (!error) return null
  const wait =
    error instanceof ApiError && error.retryAfterS ? ` ${t('Try again in {n} s.', { n: error.retryAfterS })}` : ''
  return (
    <Notice
      action={
        retry && (
          <Button onClick={retry} size="sm">
            {t('Try again')}
          </Button>
        )
      }
      tone="bad"
    >
      {error instanceof ApiError && !isWhole ? error.rest : error.message}
      {wait}
    </Notice>
  )
}

/** What is wrong with a field of what was sent, for where the field stands: `Fault` below it does not repeat it. */
export function faultOf(error: Error | null, field: string): string | undefined {
  return error instanceof ApiError ? error.shownAt(field) : undefined
}
