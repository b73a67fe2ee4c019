import type { llm, stt, tts } from '@livekit/agents'
import type { Logger } from 'pino'
import type { RealtimeConfig } from '../../../packages/plugin/realtime.ts'
import type { AgentSpec } from '../../call/types/agent-spec.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Catalogue, defaultsOf, isRealtimeModel } from '../../plugin/catalogue.ts'
import type { SpeechOptions } from '../../plugin/contract.ts'
import type { PluginRegistry } from '../../plugin/host.ts'
import type { StoredKeys } from '../../plugin/stored-keys.ts'
import type { ProviderIdentity } from '../../plugin-sdk/provider-error.ts'
import type { RealtimeProvider } from '../../plugin-sdk/realtime/realtime-provider.ts'
import { instructionsFor } from '../languages/instructions.ts'
import { RealtimeLlm } from '../realtime/realtime-llm.ts'
import type { Breakers } from './breaker.ts'
import { type Candidate, Chain, type ChainEvents, type ProviderKind } from './chain.ts'

type CreateOptions = Omit<SpeechOptions, 'settings'>

/** Where a conversation's providers come from: the plugin registry of runtime/plugin/host.ts is one. */
export interface ProviderSource {
  create(kind: 'stt', provider: string, options?: CreateOptions): Promise<stt.STT>
  create(kind: 'llm', provider: string, options?: CreateOptions): Promise<llm.LLM>
  create(kind: 'tts', provider: string, options?: CreateOptions): Promise<tts.TTS>
  create(kind: 'realtime', provider: string, options?: CreateOptions): Promise<RealtimeProvider>
  /** The same by a workspace's own keys; absent: it takes none. */
  withKeys?(own: StoredKeys): ProviderSource
  /** Which models are of speech to speech; absent: none are. */
  readonly catalogue?: Pick<Catalogue, 'realtime' | 'llm'>
}

interface Instances {
  stt: stt.STT
  llm: llm.LLM
  tts: tts.TTS
}

/** The providers of each stage, the agent's first choice first. */
export type Providers = { [S in ProviderKind]: Chain<Instances[S]> }

/** A provider and what is chosen of it: a model, or a voice. */
interface Choice {
  provider: string
  name: string
  options: CreateOptions
  /** A model of speech to speech, in the place of a language model. */
  isRealtime?: boolean
}

export interface OpenProvidersDeps {
  source: ProviderSource
  /** Of the workspace's own accounts, which go before those of the installation. */
  keys?: StoredKeys | undefined
  /** Who a provider is to an operator; default: its name. */
  identityOf?: ((provider: string) => ProviderIdentity) | undefined
  breakers: Breakers
  clock: Clock
  log: Logger
}

const CLOSE_TIMEOUT_MS = 2000

/**
 * Makes all providers of an agent at once. A fallback that can't be made is skipped and reported; a stage of which none can
 * be made throws what its first choice threw, and the others are released.
 */
export async function openProviders(
  deps: OpenProvidersDeps,
  agent: AgentSpec,
  events: ChainEvents,
): Promise<Providers> {
  const opened = await Promise.allSettled([
    openStage(deps, 'stt', choicesOf(agent, 'stt'), agent, events),
    openStage(deps, 'llm', withFallback(choicesOf(agent, 'llm', deps.source.catalogue), deps.source), agent, events),
    openStage(deps, 'tts', choicesOf(agent, 'tts'), agent, events),
  ])
  const [stt, llm, tts] = opened
  if (stt.status === 'fulfilled' && llm.status === 'fulfilled' && tts.status === 'fulfilled') {
    return { stt: stt.value, llm: llm.value, tts: tts.value }
  }
  for (const stage of opened) if (stage.status === 'fulfilled') await closeChain(stage.value, deps.log)
  throw opened.find((stage) => stage.status === 'rejected')?.reason
}

/** The language models of an agent alone, for chats. Throws as openProviders does. */
export function openLlms(deps: OpenProvidersDeps, agent: AgentSpec, events: ChainEvents): Promise<Chain<llm.LLM>> {
  const choices = withFallback(choicesOf(agent, 'llm', deps.source.catalogue), deps.source)
  // Who types is answered by what reads and writes.
  const written = choices.filter(({ isRealtime }) => isRealtime !== true)
  return openStage(deps, 'llm', written, agent, events)
}

/** Who the providers of a registry are to an operator. */
export function identityIn(plugins: PluginRegistry): (provider: string) => ProviderIdentity {
  return (provider) => ({
    title: plugins.titleOf(provider),
    keyVariable: plugins.plugins.find(({ name }) => name === provider)?.manifest?.key?.env,
  })
}

/** Opens the connections of language models and voices ahead, where they can. */
export function prewarm({ llm, tts }: Pick<Providers, 'llm' | 'tts'>): void {
  for (const { instance } of [...llm.candidates, ...tts.candidates]) (instance as { prewarm?(): void }).prewarm?.()
}

/** Releases all of them, even when some fail. */
export async function closeProviders(providers: Providers, log: Logger): Promise<void> {
  await Promise.all([providers.stt, providers.llm, providers.tts].map((chain) => closeChain(chain, log)))
}

/** Behind models of speech to speech alone the provider's own language model stands: the pipeline goes on where they fail. */
function withFallback(choices: readonly Choice[], { catalogue }: ProviderSource): Choice[] {
  const [first] = choices
  if (first === undefined || !choices.every(({ isRealtime }) => isRealtime === true)) return [...choices]
  const provides = catalogue?.llm.get(first.provider)
  const { model } = provides === undefined ? {} : defaultsOf(provides)
  if (model === undefined) return [...choices]
  const { voice: _, ...options } = first.options
  return [...choices, { provider: first.provider, name: model, options: { ...options, model } }]
}

function choicesOf(agent: AgentSpec, stage: ProviderKind, catalogue?: Pick<Catalogue, 'realtime'>): Choice[] {
  const { language: tag, keyterms = [] } = agent
  // The recogniser detects the caller's language; the other stages get it turn by turn.
  const language = tag === undefined || (tag === 'multi' && stage !== 'stt') ? {} : { language: tag }
  if (stage === 'tts') {
    return [agent.tts, ...(agent.fallbacks?.tts ?? [])].map(({ provider, voice }) => ({
      provider,
      name: voice,
      options: { voice, ...language },
    }))
  }
  const own = stage === 'llm' ? { temperature: agent.temperature } : keyterms.length === 0 ? {} : { keyterms }
  return [agent[stage], ...(agent.fallbacks?.[stage] ?? [])].map(({ provider, model }) => {
    const isRealtime = stage === 'llm' && catalogue !== undefined && isRealtimeModel(catalogue, provider, model)
    // The provider's voices are those of its speech-to-speech models, too.
    const voice = isRealtime && agent.tts?.provider === provider ? { voice: agent.tts.voice } : {}
    return { provider, name: model, options: { model, ...own, ...language, ...voice }, isRealtime }
  })
}

/** What a speech-to-speech model is told before the first answer; what the answer needs beside is told with it. */
function configOf(agent: AgentSpec): RealtimeConfig {
  const { systemPrompt, language, register, tools = [], keyterms = [] } = agent
  const spoken = language === 'multi' ? {} : { language: language ?? 'en' }
  return {
    ...(agent.transcribe === 'model' ? { transcribe: { ...spoken, keyterms } } : {}),
    instructions: instructionsFor(systemPrompt, language, register === undefined ? {} : { register }),
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  }
}

async function openStage<S extends ProviderKind>(
  { source: usual, keys = {}, identityOf = (name) => ({ title: name }), breakers, clock }: OpenProvidersDeps,
  stage: S,
  choices: readonly Choice[],
  agent: AgentSpec,
  events: ChainEvents,
): Promise<Chain<Instances[S]>> {
  const source = usual.withKeys?.(keys) ?? usual
  const create = source.create as unknown as (
    kind: ProviderKind,
    provider: string,
    options: CreateOptions,
  ) => Promise<Instances[S]>
  const made = await Promise.allSettled(
    choices.map(async ({ provider, name, options, isRealtime }) => {
      if (isRealtime !== true) return create.call(source, stage, provider, options)
      const realtime = await source.create('realtime', provider, options)
      const identity = identityOf(provider)
      const model = { provider: realtime, name: provider, model: name, identity, config: configOf(agent) }
      return new RealtimeLlm(model) as llm.LLM as Instances[S]
    }),
  )
  const candidates = choices.map(({ provider, name }, i): Candidate<Instances[S]> | undefined => {
    const result = made[i]
    if (result?.status !== 'fulfilled') return undefined
    // What a workspace's account refuses says nothing about the others'.
    const account = keys[provider] === undefined ? provider : `${provider} of ${agent.workspaceId}`
    const breaker = breakers.of(stage, account, name)
    return { instance: result.value, provider, identity: identityOf(provider), breaker }
  })
  const usable = candidates.filter((candidate) => candidate !== undefined)
  const refused = made.find((result) => result.status === 'rejected')
  if (usable.length === 0) throw refused?.reason
  for (const [i, result] of made.entries()) {
    if (result.status === 'fulfilled') continue
    const identity = identityOf(choices[i]!.provider)
    const words = result.reason instanceof Error ? result.reason.message : String(result.reason)
    const failure = { fault: 'bad_request', status: undefined, retryable: false, message: words } as const
    events.failed(stage, `${identity.title} is left out: ${words}`, failure, result.reason)
  }
  return new Chain(stage, usable, clock, events)
}

/** Releases the providers of a stage. */
export async function closeChain(chain: Chain<stt.STT | llm.LLM | tts.TTS>, log: Logger): Promise<void> {
  const results = await Promise.allSettled(chain.candidates.map(({ instance }) => closeOne(instance)))
  for (const result of results) {
    if (result.status === 'rejected') log.warn({ err: result.reason }, 'A provider did not close')
  }
}

async function closeOne(provider: stt.STT | llm.LLM | tts.TTS): Promise<void> {
  const close = 'aclose' in provider ? provider.aclose : 'close' in provider ? provider.close : undefined
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`Closing ${provider.label} took over ${CLOSE_TIMEOUT_MS} ms`)),
      CLOSE_TIMEOUT_MS,
    )
  })
  try {
    await Promise.race([close?.call(provider), late])
  } finally {
    clearTimeout(timer)
  }
}
