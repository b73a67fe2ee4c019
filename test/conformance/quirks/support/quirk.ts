import type { Test } from 'tap'
import type { Spent } from '../../../../runtime/conversation/replying/spending.ts'
import type { Message } from '../../../../runtime/plugin-sdk/chat/chat-request.ts'
import type { Answer, Dialect, DialectName } from './dialects.ts'
import type { Reply } from './scripted-server.ts'

/** What came of a question to a model. */
export interface Got {
  text: string
  calls: { id: string; name: string; args: string }[]
  /** Failures told, in their words. */
  errors: string[]
  /** Faults told to the operator, those of answers that were given all the same among them. */
  faults: string[]
  /** Bodies of the requests; none where a plugin in its own process answered. */
  bodies: Record<string, unknown>[]
  spent: Spent[]
}

interface Common {
  title: string
  /** Where it was reported: `owner/repository#number`, or what was found by trying. */
  report: string
}

/** Something a provider of language models does. Run over every provider that can do it. */
export interface AnswerQuirk extends Common {
  kind: 'answer'
  /** Default: all. `deno`: a plugin in a process of its own. */
  providers?: readonly (DialectName | 'deno')[]
  /** The model; default: one of the provider's. */
  model?: string
  /** The plugin's options. */
  options?: Record<string, unknown>
  /** The answers in turn: neutral, or one server's own. */
  answers: readonly (Answer | ((dialect: Dialect) => Reply))[]
  /** Default: one question. */
  messages?: readonly Message[]
  hasTools?: boolean
  temperature?: number
  /** The answer is broken off by us after this many pieces. */
  closesAfter?: number
  /** A second question after the first, to see what is remembered. */
  asksAgain?: boolean
  /** Default: through the conversation's own chain, which tries again. False: the plugin alone. */
  isResilient?: boolean
  check(t: Test, got: Got): void
}

/** Something a server of voices sends in place of samples. Run over every provider that speaks over HTTP. */
export interface SoundQuirk extends Common {
  kind: 'sound'
  reply: Reply
  check(t: Test, got: { samples: Int16Array; errors: string[] }): void
}

/** Something of a recogniser's or voice's own protocol, tried against its double. */
export interface ProtocolQuirk extends Common {
  kind: 'protocol'
  run(t: Test): Promise<void>
}

export type Quirk = AnswerQuirk | SoundQuirk | ProtocolQuirk
