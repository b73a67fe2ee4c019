import type { Test } from 'tap'
import type { RealtimeClientEvent, RealtimeServerEvent } from '../../../../../packages/plugin/realtime.ts'
import type { RealtimeProvider } from '../../../../../runtime/plugin-sdk/realtime/realtime-provider.ts'
import { registryWith } from '../../../../support/providers/doubles/registry.ts'
import { MODELS, type Vendor } from './support.ts'

/** Of an answer that calls a tool, in their order. */
export const MOMENTS = [
  'the call of the tool comes',
  'the answer with the call is over',
  'the tool begins',
  'the tool returns',
  'the session is told the result',
  'the session is asked again',
  'the next answer begins',
  'the next answer sounds',
  'the next answer is over',
] as const
export type Moment = (typeof MOMENTS)[number]

/** Messages of one direction. */
class Gate {
  #held: (() => void)[] | undefined

  /** Passes a message on, unless one before it is held: then behind that. */
  pass(go: () => void, hold: ((goOn: () => void) => void) | undefined): void {
    if (this.#held !== undefined) {
      this.#held.push(go)
      return
    }
    if (hold === undefined) {
      go()
      return
    }
    const held: (() => void)[] = [go]
    this.#held = held
    hold(() => {
      for (let next = held.shift(); next !== undefined; next = held.shift()) next()
      this.#held = undefined
    })
  }
}

/** Does something at one moment of a call, before or after that goes on. */
export class Watch {
  readonly #moment: Moment
  readonly #act: (goOn: () => void) => void
  readonly #passed = new Set<Moment>()

  constructor(moment: Moment, act: (goOn: () => void) => void) {
    this.#moment = moment
    this.#act = act
  }

  get isOver(): boolean {
    return this.#passed.has(this.#moment)
  }

  /** What holds a message of this moment; undefined: nothing does. */
  at(moment: Moment | undefined): ((goOn: () => void) => void) | undefined {
    if (moment === undefined || this.#passed.has(moment)) return undefined
    this.#passed.add(moment)
    return moment === this.#moment ? this.#act : undefined
  }

  /** For `RealtimeWorld`: the vendor's model in this process, whose messages pass by here. */
  readonly provider = async (
    t: Test,
    vendor: Vendor,
    env: Record<string, string>,
    own: object,
  ): Promise<RealtimeProvider> => {
    const registry = await registryWith(t, env, { [vendor]: own as Record<string, unknown> })
    const provider = await registry.create('realtime', vendor, { model: MODELS[vendor].model })
    return {
      ...provider,
      open: async (config) => {
        const codec = await provider.open(config)
        const told = new Gate()
        const happened = new Gate()
        return {
          ...codec,
          tell: (event) => told.pass(() => codec.tell(event), this.at(this.#ofTold(event))),
          follow: (reader) =>
            codec.follow({
              ...reader,
              happened: (event) => happened.pass(() => reader.happened(event), this.at(this.#ofHappened(event))),
            }),
        }
      },
    }
  }

  #ofTold(event: RealtimeClientEvent): Moment | undefined {
    if (event.type === 'create' && event.item.type === 'function_call_output') return 'the session is told the result'
    const isResultTold = this.#passed.has('the session is told the result')
    return event.type === 'respond' && isResultTold ? 'the session is asked again' : undefined
  }

  #ofHappened({ type }: RealtimeServerEvent): Moment | undefined {
    if (type === 'tool_call') return 'the call of the tool comes'
    const wasAskedAgain = this.#passed.has('the session is asked again')
    if (type === 'response_done' && !wasAskedAgain) return 'the answer with the call is over'
    if (!wasAskedAgain) return undefined
    if (type === 'response_started') return 'the next answer begins'
    if (type === 'audio') return 'the next answer sounds'
    return type === 'response_done' ? 'the next answer is over' : undefined
  }
}
