import { Link } from '@tanstack/react-router'
import { useProviders } from '../../data/providers.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Icon } from '../../ui/icon.tsx'

const FALLBACK_LANGUAGE = 'en'

/** Where the recogniser knows sentences and no speech: which, said by a click, and how to have a real one. */
interface UnderstandsProps {
  agent: Agent
  /** A conversation runs: why is known by then. */
  isOn: boolean
  onSay?: (text: string) => void
}

export function Understands({ agent, isOn, onSay }: UnderstandsProps) {
  const { data } = useProviders()
  const understands = data?.providers.find(({ provider }) => provider === agent.STT_provider)?.stt?.understands
  if (!understands) return null
  const hasLocal = data?.providers.some(({ isolation, stt }) => isolation === 'node' && stt !== null)
  const spoken = agent.language.split('-')[0] ?? ''
  const language = understands[spoken] ? spoken : FALLBACK_LANGUAGE
  const known = understands[language] ?? []
  // What an agent can be asked says more of it than a greeting.
  const sentences = known.toSorted((a, b) => Number(b.endsWith('?')) - Number(a.endsWith('?')))
  return (
    <section className="mt-4 border-t border-line pt-3">
      <p className="flex items-start gap-2 text-sm text-pretty">
        <Icon className="mt-0.5 text-warn" name="warning" size={16} />
        <span>
          {isOn ? (
            t('It does not understand your voice: type, or click what you would say.')
          ) : (
            <>
              {t(
                'This agent’s simulated recogniser does not understand your voice. Type, or click what you would say. To be understood:',
              )}{' '}
              <Link className="font-medium text-accent-ink underline underline-offset-2" to="/providers">
                {t('set a provider’s key')}
              </Link>
              {hasLocal && t(', or hear and speak on this machine without one')}.
            </>
          )}
        </span>
      </p>
      <ul
        aria-label={t('What it understands')}
        className="mt-2.5 flex max-h-36 flex-wrap gap-1.5 overflow-y-auto"
        lang={language}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {sentences.map((sentence) => (
          <li key={sentence}>
            <button
              className="rounded-full border border-line px-2.5 py-0.5 text-sm hover:border-line-strong hover:bg-sunken disabled:text-muted disabled:hover:border-line disabled:hover:bg-transparent"
              disabled={onSay === undefined}
              onClick={() => onSay?.(sentence)}
              type="button"
            >
              {sentence}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
