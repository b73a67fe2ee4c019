import { formatUsd } from '../../data/format.ts'
import { type Provider, useProviders } from '../../data/providers.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

const CHOICES = {
  STT: ['STT_provider', 'STT_model', t('Model'), 'stt'],
  LLM: ['LLM_provider', 'LLM_model', t('Model'), 'llm'],
  TTS: ['TTS_provider', 'TTS_voice', t('Voice'), 'tts'],
} as const

/** Who does a stage, and with what. */
export function ProviderFields({ draft, kind }: { draft: Draft; kind: keyof typeof CHOICES }) {
  const { agent, change, fault } = draft
  const { data } = useProviders()
  const [provider, choice, label, offers] = CHOICES[kind]
  const able = data?.providers.filter((one) => one[offers] !== null && one.allowed) ?? []
  const chosen = able.find((one) => one.provider === agent[provider])
  const options = chosen ? optionsOf(chosen, kind, agent.language) : { names: [], isOpen: true, preferred: null }
  const isListed = options.names.some(([name]) => name === agent[choice])
  const unhealthy =
    chosen && chosen.health.state !== 'ok' && chosen.health.state !== 'not_asked' ? chosen.health.message : null
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Field fault={faultOf(fault, provider) ?? unhealthy ?? undefined} label={t('Provider')}>
        <Select
          onChange={(event) => {
            const next = able.find((one) => one.provider === event.target.value)
            const first = next && optionsOf(next, kind, agent.language)
            change({
              [provider]: event.target.value,
              [choice]: first?.preferred ?? first?.names[0]?.[0] ?? agent[choice],
            })
          }}
          value={agent[provider]}
        >
          {chosen === undefined && <option value={agent[provider]}>{agent[provider]}</option>}
          {able.map((one) => (
            <option key={one.provider} value={one.provider}>
              {one.title}
              {one.health.state === 'no_key'
                ? ` (${t('not set up')})`
                : one.health.state === 'ok' || one.health.state === 'not_asked'
                  ? ''
                  : ` (${t('fails')})`}
            </option>
          ))}
        </Select>
      </Field>
      <Field fault={faultOf(fault, choice)} hint={kind === 'LLM' ? standIn(agent, chosen) : undefined} label={label}>
        {options.names.length > 0 && !options.isOpen ? (
          <Select onChange={(event) => change({ [choice]: event.target.value })} value={agent[choice]}>
            {!isListed && <option value={agent[choice]}>{agent[choice]}</option>}
            {options.names.map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </Select>
        ) : (
          <>
            <Input
              list={`${kind}-choices`}
              onChange={(event) => change({ [choice]: event.target.value })}
              value={agent[choice]}
            />
            <datalist id={`${kind}-choices`}>
              {options.names.map(([name, text]) => (
                <option key={name} value={name}>
                  {text}
                </option>
              ))}
            </datalist>
          </>
        )}
      </Field>
    </div>
  )
}

/** Whether the agent's model is one of speech to speech. */
export const speaksItself = ({ LLM_model }: Draft['agent'], provider: Provider | undefined): boolean =>
  provider?.llm?.speech_to_speech.some((name) => isNamed(name, LLM_model)) === true

/** Of a model that speaks itself: what takes its place when it fails. */
function standIn(agent: Draft['agent'], provider: Provider | undefined): string | undefined {
  if (!speaksItself(agent, provider)) return undefined
  const model = agent.fallbacks.LLM?.[0]?.model ?? provider?.llm?.default_model ?? ''
  return t('If it fails in a call, {model} answers in the voice of this agent.', { model })
}

/** `*` stands for any text. */
function isNamed(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(name)
}

/** Models or voices with what they cost, those for the language first, and whether others may be named. */
function optionsOf(provider: Provider, kind: keyof typeof CHOICES, language: string) {
  const priced = (name: string, usd: number | undefined, unit: string) =>
    [name, !usd ? name : `${name} · ${formatUsd(usd)} ${unit}`] as const
  const { llm, stt, tts } = provider
  if (kind === 'LLM' && llm) {
    return {
      names: llm.models.map(({ model, price, speech_to_speech: speaks }) =>
        speaks
          ? ([model, t('{model} · hears and speaks itself', { model })] as const)
          : priced(model, price?.output_per_million_tokens, t('a million tokens out')),
      ),
      isOpen: llm.any_model,
      preferred: llm.default_model,
    }
  }
  if (kind === 'STT' && stt) {
    return {
      names: stt.models.map(({ model, price }) => priced(model, price?.per_minute, t('a minute'))),
      isOpen: stt.any_model,
      preferred: stt.default_model,
    }
  }
  return {
    names:
      tts?.voices
        .toSorted((a, b) => Number(speaks(b, language)) - Number(speaks(a, language)))
        .map(
          ({ voice, name, languages }) =>
            [voice, languages.length > 0 && languages.length < 4 ? `${name} (${languages.join(', ')})` : name] as const,
        ) ?? [],
    isOpen: tts?.any_voice ?? true,
    preferred: tts?.default_voice ?? null,
  }
}

/** Whether a voice knows the agent's language; those that do are offered first. */
const speaks = ({ languages }: { languages: readonly string[] }, language: string): boolean =>
  languages.some((tag) => tag.split('-')[0] === language.split('-')[0])
