import type { Random } from './random.ts'
import type { World } from './world.ts'

/** A way into an installation from outside, and somebody hostile at it. */
export interface Surface {
  readonly name: string
  /** Attempts beside each other; default: 1. */
  readonly atOnce?: number
  /** Prepares what the attacks need, and gives the one that is run again and again. */
  open(world: World, random: Random): Promise<Attack>
}

export interface Attack {
  /** One attempt: some messages. What the installation refuses or cuts off is no failure; what it throws is ignored. */
  attempt(): Promise<void>
  close?(): Promise<void> | void
}
