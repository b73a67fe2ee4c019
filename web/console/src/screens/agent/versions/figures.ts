import type { Rollout } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'

/** Guarded figures, as the API names them. */
const NAMES: Readonly<Record<string, string>> = {
  success: t('Success'),
  faults: t('Calls with a fault'),
  latency_p95: t('Time to answer'),
  cost: t('Cost of a call'),
}

/** A figure that a guard may compare; `disposition:NAME` is the name. */
export const guardFigureName = (figure: string): string => NAMES[figure] ?? figure.replace(/^disposition:/, '')

export const GUARD_FIGURES = ['success', 'faults', 'latency_p95', 'cost'] as const

export type VersionFigures = Rollout['versions'][number]
