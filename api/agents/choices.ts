import { type Catalogue, checkChoice, defaultsOf } from '../../runtime/plugin/catalogue.ts'
import type { DefaultProviders } from '../../runtime/plugin/default-providers.ts'
import type { ProviderHealth } from '../../runtime/plugin/provider-health.ts'
import type { StoredKeys } from '../../runtime/plugin/stored-keys.ts'
import type { Agent } from '../../store/database/schema.ts'
import type { Fault } from '../schema.ts'
import type { AgentInput } from './schema.ts'

/** What an agent needs to speak: a provider of each kind, and a model or voice of it. */
export interface Choices {
  LLM_provider: string
  LLM_model: string
  STT_provider: string
  STT_model: string
  TTS_provider: string
  TTS_voice: string
}

/** Completes a new agent's choices: the installation's providers, and each provider's own default. */
export function withDefaults(input: AgentInput, catalogue: Catalogue, providers: DefaultProviders): Choices {
  const LLM_provider = input.LLM_provider ?? providers.llm.provider
  const STT_provider = input.STT_provider ?? providers.stt.provider
  const TTS_provider = input.TTS_provider ?? providers.tts.provider
  const defaults = (kind: 'llm' | 'stt' | 'tts', provider: string) =>
    defaultsOf(catalogue[kind].get(provider) ?? {}, input.language)
  return {
    LLM_provider,
    LLM_model: input.LLM_model ?? defaults('llm', LLM_provider).model ?? 'default',
    STT_provider,
    STT_model: input.STT_model ?? defaults('stt', STT_provider).model ?? 'default',
    TTS_provider,
    TTS_voice: input.TTS_voice ?? defaults('tts', TTS_provider).voice ?? 'default',
  }
}

/**
 * An agent's choices after a change; what is not sent stays. With another provider alone comes that provider's default, unless it
 * lists what the agent has. A model or voice that is its provider's default is the default of a new language, too.
 */
export function withCurrent(input: AgentInput, agent: Agent, catalogue: Catalogue): Choices {
  const kept = (kind: 'llm' | 'stt' | 'tts', provider: string, current: string): string => {
    const what = kind === 'tts' ? 'voice' : 'model'
    if (provider !== agent[`${kind}_provider`]) {
      const next = catalogue[kind].get(provider) ?? {}
      if (next[`${what}s`]?.includes(current)) return current
      return defaultsOf(next, input.language ?? agent.language)[what] ?? 'default'
    }
    if (kind === 'llm' || input.language === undefined || input.language === agent.language) return current
    const provides = catalogue[kind].get(provider) ?? {}
    if (defaultsOf(provides, agent.language)[what] !== current) return current
    return defaultsOf(provides, input.language)[what] ?? current
  }
  const LLM_provider = input.LLM_provider ?? agent.llm_provider
  const STT_provider = input.STT_provider ?? agent.stt_provider
  const TTS_provider = input.TTS_provider ?? agent.tts_provider
  return {
    LLM_provider,
    LLM_model: input.LLM_model ?? kept('llm', LLM_provider, agent.llm_model),
    STT_provider,
    STT_model: input.STT_model ?? kept('stt', STT_provider, agent.stt_model),
    TTS_provider,
    TTS_voice: input.TTS_voice ?? kept('tts', TTS_provider, agent.tts_voice),
  }
}

export const KINDS = ['LLM', 'STT', 'TTS'] as const
const MAX_LISTED = 50

/** A fault that names what is available, for every choice of these kinds the plugins don't offer. */
export function unavailableFaults(
  choices: Choices,
  catalogue: Catalogue,
  kinds: readonly (typeof KINDS)[number][],
): Fault[] {
  return kinds.flatMap((prefix): Fault[] => {
    const unavailable = checkChoice(catalogue, prefix.toLowerCase() as Lowercase<typeof prefix>, {
      provider: choices[`${prefix}_provider`],
      ...(prefix === 'TTS' ? { voice: choices.TTS_voice } : { model: choices[`${prefix}_model`] }),
    })
    if (unavailable === undefined) return []
    const { field, available, ended } = unavailable
    if (ended !== undefined) return [{ loc: ['body', `${prefix}_${field}`], msg: ended, type: 'value_error' }]
    const listed = available.slice(0, MAX_LISTED).map((name) => JSON.stringify(name))
    const more = available.length > MAX_LISTED ? ` and ${available.length - MAX_LISTED} more` : ''
    return [{ loc: ['body', `${prefix}_${field}`], msg: `must be one of ${listed.join(', ')}${more}`, type: 'enum' }]
  })
}

/** A fault for every provider of these fields whose key is missing or refused; `own` are keys of the workspace. */
export async function unusableFaults(
  choices: Choices,
  fields: readonly (typeof KINDS)[number][],
  health: ProviderHealth,
  own: StoredKeys,
): Promise<Fault[]> {
  const faults = await Promise.all(
    fields.map(async (prefix): Promise<Fault[]> => {
      const provider = choices[`${prefix}_provider`]
      const msg = await health.refusal(provider, prefix.toLowerCase() as Lowercase<typeof prefix>, own[provider])
      return msg === undefined ? [] : [{ loc: ['body', `${prefix}_provider`], msg, type: 'value_error' }]
    }),
  )
  return faults.flat()
}

/** The kinds whose provider a change names. */
export function namedKinds(input: AgentInput): (typeof KINDS)[number][] {
  return KINDS.filter((prefix) => input[`${prefix}_provider`] !== undefined)
}
