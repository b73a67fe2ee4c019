import { type Provider, useProviders } from '../../data/providers.ts'
import type { Agent } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

const MAX_FALLBACKS = 3
type Stage = 'STT' | 'LLM' | 'TTS'

interface Choice {
  provider: string
  /** The model or the voice. */
  name: string
}

/** Who takes over a stage, in this order, when its provider fails. */
export function FallbackFields({ draft, kind }: { draft: Draft; kind: Stage }) {
  const { data } = useProviders()
  const offers = kind.toLowerCase() as Lowercase<Stage>
  const able = data?.providers.filter((one) => one[offers] !== null && one.allowed) ?? []
  const choices = choicesOf(draft.agent.fallbacks, kind)
  const set = (next: readonly Choice[]) => {
    const named = next.map(({ provider, name }) =>
      kind === 'TTS' ? { provider, voice: name } : { provider, model: name },
    )
    draft.change({ fallbacks: { ...draft.agent.fallbacks, [kind]: named } })
  }
  const change = (at: number, choice: Choice) => set(choices.map((one, i) => (i === at ? choice : one)))
  const first = able.find(({ provider }) => provider !== draft.agent[`${kind}_provider`]) ?? able[0]
  return (
    <div className="mt-4 space-y-3">
      {choices.map(({ provider, name }, at) => {
        const chosen = able.find((one) => one.provider === provider)
        const fault = (field: string) => faultOf(draft.fault, `fallbacks.${kind}.${at}.${field}`)
        const names = chosen ? namesOf(chosen, kind) : []
        return (
          <div className="grid items-end gap-2 sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_auto]" key={at}>
            <Field fault={fault('provider')} label={t('If that fails, {n}.', { n: at + 1 })}>
              <Select
                onChange={({ target }) => {
                  const next = able.find((one) => one.provider === target.value)
                  change(at, { provider: target.value, name: (next && namesOf(next, kind)[0]) ?? '' })
                }}
                value={provider}
              >
                {chosen === undefined && <option value={provider}>{provider}</option>}
                {able.map((one) => (
                  <option key={one.provider} value={one.provider}>
                    {one.title}
                  </option>
                ))}
              </Select>
            </Field>
            <Field fault={fault(kind === 'TTS' ? 'voice' : 'model')} label={kind === 'TTS' ? t('Voice') : t('Model')}>
              <Input
                list={`${kind}-fallback-${at}`}
                onChange={({ target }) => change(at, { provider, name: target.value })}
                value={name}
              />
            </Field>
            <datalist id={`${kind}-fallback-${at}`}>
              {names.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
            <Button
              aria-label={t('Remove {name}', { name: provider })}
              icon="trash"
              kind="quiet"
              onClick={() => set(choices.filter((_, i) => i !== at))}
            />
          </div>
        )
      })}
      {choices.length < MAX_FALLBACKS && first && (
        <Button
          icon="plus"
          onClick={() => set([...choices, { provider: first.provider, name: namesOf(first, kind)[0] ?? '' }])}
          size="sm"
        >
          {t('Add a fallback')}
        </Button>
      )}
    </div>
  )
}

function choicesOf(fallbacks: Agent['fallbacks'], kind: Stage): readonly Choice[] {
  if (kind === 'TTS') return (fallbacks.TTS ?? []).map(({ provider, voice }) => ({ provider, name: voice }))
  return (fallbacks[kind] ?? []).map(({ provider, model }) => ({ provider, name: model }))
}

function namesOf({ stt, llm, tts }: Provider, kind: Stage): string[] {
  if (kind === 'TTS') return tts?.voices.map(({ voice }) => voice) ?? []
  return (kind === 'STT' ? stt : llm)?.models.map(({ model }) => model) ?? []
}
