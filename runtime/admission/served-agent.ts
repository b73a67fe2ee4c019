/** Who may serve an agent, of those that the operator allows its workspace. Pure. */

/** The choices of an agent by which providers are asked. */
interface AgentChoices {
  readonly llm_provider: string
  readonly stt_provider: string
  readonly tts_provider: string
  readonly fallbacks: unknown
}

declare const served: unique symbol
/** An agent whose providers, fallbacks included, were judged: without this no conversation gets its choices. */
export type Served<A extends AgentChoices> = A & { readonly [served]: true }

type Choice = { readonly provider: string }
type Kinds = Readonly<Record<string, readonly Choice[] | undefined>>

/** A provider the operator keeps from the workspace, and where it is named: `['fallbacks', 'LLM', '0', 'provider']`. */
interface UnallowedProvider {
  readonly at: readonly string[]
  readonly provider: string
}

/**
 * The agent with those fallbacks alone that are allowed, or the first choice that is not allowed: it has no substitute.
 * @param allowed null: every provider
 */
export function servedOf<A extends AgentChoices>(
  agent: A,
  allowed: readonly string[] | null,
): { agent: Served<A> } | { unallowed: UnallowedProvider } {
  if (allowed === null) return { agent: agent as Served<A> }
  const { llm_provider, stt_provider, tts_provider } = agent
  const [unallowed] = unallowedOf({ llm_provider, stt_provider, tts_provider }, {}, allowed)
  if (unallowed !== undefined) return { unallowed }
  const kept = Object.entries(agent.fallbacks as Kinds).map(([kind, choices = []]) => [
    kind,
    choices.filter(({ provider }) => allowed.includes(provider)),
  ])
  return { agent: { ...agent, fallbacks: Object.fromEntries(kept) } as Served<A> }
}

/** Every choice of these that is not allowed. */
export function unallowedOf(
  first: Readonly<Record<string, string | undefined>>,
  fallbacks: Kinds,
  allowed: readonly string[] | null,
): UnallowedProvider[] {
  if (allowed === null) return []
  const named: { at: readonly string[]; provider: string | undefined }[] = [
    ...Object.entries(first).map(([field, provider]) => ({ at: [field], provider })),
    ...Object.entries(fallbacks).flatMap(([kind, choices = []]) =>
      choices.map(({ provider }, i) => ({ at: ['fallbacks', kind, String(i), 'provider'], provider })),
    ),
  ]
  return named.flatMap(({ at, provider }) =>
    provider === undefined || allowed.includes(provider) ? [] : [{ at, provider }],
  )
}

/** Said behind the name of a field. */
export function mustBeAllowed(allowed: readonly string[] | null): string {
  return `must be one that the operator allows this workspace: ${allowed?.join(', ') || 'none'}`
}
