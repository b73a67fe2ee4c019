import { inBackground } from '../lib/async/boundary.ts'
import { closeInstance, type PluginRegistry } from '../plugin/host.ts'
import type {
  Carrier,
  DialOrder,
  DialRules,
  TestCall,
  TrunkFigures,
  TrunkFinding,
  TrunkState,
} from '../plugin-sdk/telephony/carrier.ts'
import { NO_TRUNKS, type TrunkDirectory } from '../plugin-sdk/telephony/trunk.ts'
import type { CarrierEndpoint } from '../plugin-sdk/telephony/web.ts'
import { NO_DIAL_RULES } from './dial-policy.ts'
import { policed } from './policed-carrier.ts'

/** The carriers of this process by the plugin that makes them: one instance each, made when first needed. */
export class Carriers {
  readonly #plugins: PluginRegistry
  readonly #trunks: TrunkDirectory
  readonly #doorOf: ((provider: string) => CarrierEndpoint) | undefined
  readonly #rulesOf: (workspaceId: string) => Promise<DialRules>
  readonly #made = new Map<string, Promise<Carrier>>()

  /**
   * @param trunks none where nothing is dialled and nothing listens
   * @param doorOf where a provider's requests reach this process; absent where they don't
   * @param rulesOf destinations a workspace may call
   */
  constructor(
    plugins: PluginRegistry,
    trunks: TrunkDirectory = NO_TRUNKS,
    doorOf?: (provider: string) => CarrierEndpoint,
    rulesOf: (workspaceId: string) => Promise<DialRules> = async () => NO_DIAL_RULES,
  ) {
    this.#plugins = plugins
    this.#trunks = trunks
    this.#doorOf = doorOf
    this.#rulesOf = rulesOf
  }

  /** The provider's name as people write it: errors of its carrier begin with it. */
  titleOf(provider: string): string {
    return this.#plugins.titleOf(provider)
  }

  /** How a trunk does, as the carrier of this process that has it sees it. */
  async trunkState(trunkId: string): Promise<TrunkState | undefined> {
    for (const made of this.#made.values()) {
      const state = (await made.catch(() => undefined))?.trunkState?.(trunkId)
      if (state !== undefined) return state
    }
    return undefined
  }

  /** What the carrier of trunks finds out about one; undefined: no carrier of this process knows trunks. */
  async diagnoseTrunk(trunkId: string): Promise<TrunkFinding[] | undefined> {
    for (const made of this.#made.values()) {
      const carrier = await made.catch(() => undefined)
      if (carrier?.diagnoseTrunk !== undefined) return carrier.diagnoseTrunk(trunkId)
    }
    return undefined
  }

  /**
   * Has the carrier of trunks place a test call; undefined: no carrier of this process knows trunks.
   * @throws CarrierFault the number may not be called
   */
  async testCall(order: DialOrder, signal: AbortSignal): Promise<TestCall | undefined> {
    for (const made of this.#made.values()) {
      const carrier = await made.catch(() => undefined)
      if (carrier?.testCall !== undefined) return carrier.testCall(order, signal)
    }
    return undefined
  }

  /** All trunks of this process, and how they do. */
  async trunks(): Promise<TrunkFigures[]> {
    const carriers = await Promise.all([...this.#made.values()].map((made) => made.catch(() => undefined)))
    return carriers.flatMap((carrier) => [...(carrier?.trunks?.() ?? [])])
  }

  /** The carrier of this process that softphones register with; undefined without one. */
  async ofExtensions(): Promise<Carrier | undefined> {
    for (const made of this.#made.values()) {
      const carrier = await made.catch(() => undefined)
      if (carrier?.hasExtensions === true) return carrier
    }
    return undefined
  }

  /** Throws what the plugin registry throws; the next call tries again. */
  get(provider: string): Promise<Carrier> {
    let made = this.#made.get(provider)
    if (made === undefined) {
      const door = this.#doorOf?.(provider)
      made = this.#plugins
        .create('telephony', provider, { trunks: this.#trunks, ...(door && { door }) })
        .then((carrier) => policed(carrier, { title: this.titleOf(provider), rulesOf: this.#rulesOf }))
      made.catch(() => this.#made.delete(provider))
      this.#made.set(provider, made)
    }
    return made
  }

  /** This node will stop: other nodes take over what brings calls to it. */
  leave(): void {
    for (const made of this.#made.values()) {
      inBackground(
        'carrier',
        made.then((carrier) => carrier.leave?.()),
      )
    }
  }

  /** Ends what the carriers do on their own, before the trunks and stores close that they ask. */
  async close(): Promise<void> {
    const made = await Promise.allSettled(this.#made.values())
    await Promise.all(made.map((one) => (one.status === 'fulfilled' ? closeInstance(one.value) : undefined)))
  }
}
