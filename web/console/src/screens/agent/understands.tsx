import { Link } from '@tanstack/react-router'
import { useProviders } from '../../data/providers.ts'
import type { Agent } from '../../data/types.ts'
import { Icon } from '../../ui/icon.tsx'

const FALLBACK_LANGUAGE = 'en'

/** Where the recogniser knows sentences and no speech: which, said by a click, and how to have a real one. */
export function Understands({ agent, onSay }: { agent: Agent; onSay?: (text: string) => void }) {
  const { data } = useProviders()
  const understands = data?.providers.find(({ provider }) => provider === agent.STT_provider)?.stt?.understands
  if (!understands) return null
  // What only needs a download says which.
  const local = data?.providers.find(
    ({ isolation, stt, health }) => isolation === 'node' && stt !== null && health.state === 'no_key',
  )?.health.message
  const sentences = understands[agent.language.split('-')[0] ?? ''] ?? understands[FALLBACK_LANGUAGE] ?? []
  return (
    <section className="mt-4 border-t border-line pt-3">
      <p className="flex items-start gap-2 text-sm text-pretty">
        <Icon className="mt-0.5 text-warn" name="warning" size={16} />
        <span>
          The simulated recogniser of this agent does not understand your voice: type, or say one of its sentences by a
          click. For a real one{' '}
          <Link className="font-medium text-accent-ink underline underline-offset-2" to="/providers">
            set a provider’s key
          </Link>
          {local === undefined ? '.' : ', or run one on this machine without a key. '}
          {local}
        </span>
      </p>
      <ul className="mt-2.5 flex max-h-36 flex-wrap gap-1.5 overflow-y-auto">
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
