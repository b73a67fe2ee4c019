import type { Provider } from '../data/providers.ts'
import { t } from '../language/t.ts'
import type { Tone } from '../ui/layout.tsx'

/** How a provider stands, in a badge. */
export const PROVIDER_STATES: Readonly<Record<Provider['health']['state'], readonly [Tone, string]>> = {
  ok: ['good', t('Ready')],
  no_key: ['neutral', t('Not set up')],
  refused: ['bad', t('Key refused')],
  failed: ['bad', t('Fails')],
  broken: ['bad', t('Broken')],
  not_asked: ['neutral', t('Not asked yet')],
}

const TASKS: Readonly<Record<string, string>> = {
  stt: t('listening'),
  llm: t('thinking'),
  tts: t('speaking'),
  telephony: t('phone calls'),
}

/** What a provider of these kinds is for. */
export function tasksOf(kinds: readonly string[]): string[] {
  return kinds.flatMap((kind) => TASKS[kind] ?? [])
}
