import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { defaultsOf, languagesOf } from '../../runtime/plugin/catalogue.ts'
import type { Provides } from '../../runtime/plugin/contract.ts'
import type { SpeechKind } from '../../runtime/plugin/default-providers.ts'
import { PERMISSIONS } from '../../runtime/plugin/grants/permissions.ts'
import type { LoadedPlugin } from '../../runtime/plugin/load.ts'
import type { ProviderState } from '../../runtime/plugin/provider-health.ts'
import type { KeyValues, StoredKeys } from '../../runtime/plugin/stored-keys.ts'
import type { Services } from '../services.ts'
import type { ProviderBody } from './schema.ts'

/** A provider that has not answered by then is reported as `not_asked`. */
const HEALTH_WAIT_MS = 2_000

/** Who looks. */
interface Seer {
  /** The providers the workspace may use; null: all. */
  allowed: readonly string[] | null
  isOperator: boolean
  /** The workspace's own keys. */
  own: StoredKeys
}

type Needs = Pick<Services, 'plugins' | 'prices' | 'clock' | 'defaultProviders' | 'providerHealth' | 'providerVoices'>

export function healthBody({ state, latencyMs, message }: ProviderState): ProviderBody['health'] {
  return { state, latency_ms: latencyMs === undefined ? null : Math.round(latencyMs), message: message ?? null }
}

/** All there is to know of a provider before an agent names it. */
export async function providerBody(services: Needs, plugin: LoadedPlugin, seer: Seer): Promise<ProviderBody> {
  const { name, manifest, granted, isolation } = plugin
  const { llm, stt, tts } = manifest?.provides ?? {}
  const own = seer.own[name]
  const [health, ttsBody, understands] = await Promise.all([
    // Its own key was tried when it was set.
    own === undefined ? services.providerHealth.state(name, HEALTH_WAIT_MS) : ({ state: 'ok' } as const),
    tts ? voicesOf(services, name, tts, own) : null,
    stt?.understands === undefined ? null : understoodIn(join(plugin.dir, stt.understands)),
  ])
  return {
    provider: name,
    title: manifest?.title ?? name,
    description: manifest?.description ?? null,
    allowed: seer.allowed === null || seer.allowed.includes(name),
    isolation,
    health: healthBody(health),
    own_key: own !== undefined,
    grants: seer.isOperator
      ? (Object.fromEntries(PERMISSIONS.map((kind) => [kind, [...(granted[kind] ?? [])]])) as ProviderBody['grants'])
      : null,
    llm: llm ? llmOf(services, name, llm) : null,
    stt: stt ? { ...sttOf(services, name, stt), understands } : null,
    tts: ttsBody,
  }
}

/** The prices of today. */
function pricer({ prices, clock }: Needs, kind: SpeechKind, provider: string) {
  const at = new Date(clock.nowMs())
  return (name: string) => prices.priceOf(kind, provider, name, at)
}

/** The models of a list, else the default alone. */
function modelsOf(provides: Provides): { names: readonly string[]; any: boolean; preferred: string | null } {
  const { model } = defaultsOf(provides)
  const listed = provides.models ?? []
  return {
    names: listed.length > 0 ? listed : model === undefined ? [] : [model],
    any: listed.length === 0,
    preferred: model ?? null,
  }
}

function llmOf(services: Needs, provider: string, provides: Provides): ProviderBody['llm'] {
  const { models: speaking = [], names: alike = [] } = services.plugins.catalogue.realtime.get(provider) ?? {}
  const { names, any, preferred } = modelsOf(provides)
  const priceOf = pricer(services, 'llm', provider)
  return {
    is_default: services.defaultProviders.llm.provider === provider,
    any_model: any,
    default_model: preferred,
    models: [...names, ...speaking].map((model) => {
      const { inputPerMillionTokens: input, outputPerMillionTokens: output } = priceOf(model) ?? {}
      const known = input !== undefined && output !== undefined
      const price = known ? { input_per_million_tokens: input, output_per_million_tokens: output } : null
      return { model, speech_to_speech: speaking.includes(model), price }
    }),
    speech_to_speech: [...speaking, ...alike],
  }
}

function sttOf(
  services: Needs,
  provider: string,
  provides: Provides,
): Omit<NonNullable<ProviderBody['stt']>, 'understands'> {
  const { names, any, preferred } = modelsOf(provides)
  const priceOf = pricer(services, 'stt', provider)
  return {
    is_default: services.defaultProviders.stt.provider === provider,
    any_model: any,
    default_model: preferred,
    models: names.map((model) => {
      const { perMinute, perMinuteMulti } = priceOf(model) ?? {}
      const multi = perMinuteMulti === undefined ? {} : { per_minute_multi: perMinuteMulti }
      return {
        model,
        languages: [...(languagesOf(provides, model) ?? [])],
        price: perMinute === undefined ? null : { per_minute: perMinute, ...multi },
      }
    }),
  }
}

async function voicesOf(
  services: Needs,
  provider: string,
  provides: Provides,
  own: KeyValues | undefined,
): Promise<ProviderBody['tts']> {
  const priceOf = pricer(services, 'tts', provider)
  const voices = await services.providerVoices.of(provider, own)
  return {
    is_default: services.defaultProviders.tts.provider === provider,
    any_voice: (provides.voices ?? []).length === 0,
    default_voice: defaultsOf(provides).voice ?? null,
    voices: voices.map(({ voice, name, languages, sampleUrl }) => {
      const perMillion = priceOf(voice)?.perMillionCharacters
      return {
        voice,
        name,
        languages: [...languages],
        sample_url: sampleUrl ?? null,
        price: perMillion === undefined ? null : { per_million_characters: perMillion },
      }
    }),
  }
}

/** The sentences of each language in a folder of a plugin. */
async function understoodIn(folder: string): Promise<Record<string, string[]>> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json'))
  const lists = files.map(async (name) => [
    basename(name, '.json'),
    JSON.parse(await readFile(join(folder, name), 'utf8')),
  ])
  return Object.fromEntries(await Promise.all(lists)) as Record<string, string[]>
}
