import type { Message, Tool } from '../../packages/plugin/mod.ts'
import { readChatText } from '../../runtime/plugin-sdk/chat/chat-text.ts'
import { answer, answersFrom, asked, isSmallTalk, languageOfQuestion, MIN_COVERAGE } from './answer.ts'
import { type Arguments, argumentsIn } from './calling/arguments.ts'
import { type Choice, chooseTool } from './calling/choose-tool.ts'
import { type KnownTool, knownTools } from './calling/known-tool.ts'
import { sayToolAnswer } from './calling/tool-answer.ts'
import type { Language } from './languages/language.ts'
import { words } from './words.ts'

interface Conversation {
  messages: readonly Message[]
  tools: readonly Tool[]
  /** The agent's language tag. */
  language: string | undefined
  /** Now, for the day that "on Monday" is. */
  nowMs: number
}

/** What the model says and which tool it calls, at least one of the two. */
export interface Reply {
  text?: string
  call?: { name: string; arguments: Arguments }
}

/** A tool the caller asked for, some of whose parameters are missing. */
interface Wanted {
  tool: KnownTool
  known: Arguments
  /** How often the missing one was asked for. */
  asked: number
}

/** Longer words are no request: of them their end asks. */
const MAX_REQUEST_CHARACTERS = 250
/** Turns of the caller that are read for a request that isn't complete yet. */
const MAX_TURNS = 6
/** The same is asked for so often; then the request is dropped. */
const MAX_ASKED = 3
/** So much of the words must speak of another tool for a request to be left for it. */
const MIN_COVERAGE_OF_CHANGE = 0.6

/** Answers with a sentence of the sources, a call of a tool, a question for what the tool needs, or what a tool answered. */
export function reply({ messages, tools, language, nowMs }: Conversation): Reply {
  const { sources, turns } = readChatText(messages)
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  const result = messages.slice(lastUser + 1).findLast((message) => message.role === 'tool_result')
  const question = asked(turns.findLast(({ role }) => role === 'user')?.text)
  if (result !== undefined) {
    const found = /^Passages from the knowledge base/.test(result.content) ? [result.content] : undefined
    if (found !== undefined) return { text: answer({ sources: found, turns, language }) }
    return { text: sayToolAnswer(result.content, languageOfQuestion(sources, question, language)) }
  }
  if (tools.length === 0) return { text: answer({ sources, turns, language }) }
  const requests = new Requests({ sources, tools, language, nowMs })
  let decided: Reply | undefined
  const recent = turns.slice(turns.findIndex((_, at) => turns.slice(at).filter(isUser).length <= MAX_TURNS))
  for (const [at, turn] of recent.entries()) {
    if (!isUser(turn)) continue
    const [before, said] = [recent[at - 1], recent[at + 1]].map((one) =>
      one?.role === 'assistant' ? one.text : undefined,
    )
    decided = requests.next(turn.text.slice(-MAX_REQUEST_CHARACTERS), before, said)
  }
  return decided ?? requests.lookUp(question, answer({ sources, turns, language }))
}

const isUser = ({ role }: { role: string }): boolean => role === 'user'

/** What the caller wants done, followed turn by turn: the same turns give the same answer, so nothing is kept between them. */
class Requests {
  readonly #from: { sources: readonly string[]; tools: readonly Tool[]; language: string | undefined; nowMs: number }
  readonly #tools = new Map<Language, KnownTool[]>()
  /** Calls of turns before, with what was said after them. */
  readonly #made = new Map<string, string | undefined>()
  #wanted: Wanted | undefined

  constructor(from: {
    sources: readonly string[]
    tools: readonly Tool[]
    language: string | undefined
    nowMs: number
  }) {
    this.#from = from
  }

  /**
   * What a turn of the caller leads to; undefined: it is a question for the sources.
   *
   * @param before what the agent said before it
   * @param said what the agent said then, for a turn of the past
   */
  next(text: string, before: string | undefined, said: string | undefined): Reply | undefined {
    const language = languageOfQuestion(this.#from.sources, text, this.#from.language)
    const tools = this.#toolsIn(language)
    const goodbye = tools.find(({ isGoodbye }) => isGoodbye)
    if (goodbye !== undefined && clauses(text).some((clause) => language.farewell.test(clause))) {
      return { text: language.say.farewell, call: { name: goodbye.name, arguments: {} } }
    }
    const offered = this.#offered(text, before, tools, language)
    if (offered === undefined && isSmallTalk(text, language)) return undefined
    const choice = this.#choose(text, tools, language) ?? offered
    const wanted = this.#wanted
    const isChanged =
      choice !== undefined && choice.tool.name !== wanted?.tool.name && choice.coverage >= MIN_COVERAGE_OF_CHANGE
    if (wanted === undefined || isChanged) {
      if (choice === undefined) return undefined
      const known = argumentsIn({ text, language, nowMs: this.#from.nowMs }, choice.tool.parameters, {})
      return this.#proceed({ tool: choice.tool, known, asked: 0 }, language, said)
    }
    return this.#continue(wanted, text, language, said)
  }

  /** Has a tool look up what the sources don't say. */
  lookUp(question: string, text: string): Reply {
    const language = languageOfQuestion(this.#from.sources, question, this.#from.language)
    const tool = this.#toolsIn(language).find(({ isLookup }) => isLookup)
    if (text !== language.say.unknown || tool === undefined) return { text }
    const [parameter] = tool.required
    const given = { [parameter?.name ?? '']: question }
    return this.#made.has(keyOf(tool, given)) ? { text } : { call: { name: tool.name, arguments: given } }
  }

  #toolsIn(language: Language): KnownTool[] {
    const known = this.#tools.get(language) ?? knownTools(this.#from.tools, language)
    this.#tools.set(language, known)
    return known
  }

  /** The tool the words ask for, unless the sources answer them as well or better. */
  #choose(text: string, tools: readonly KnownTool[], language: Language): Choice | undefined {
    const { sources, nowMs } = this.#from
    const [best, next] = chooseTool(text, tools, language, nowMs)
    if (best === undefined) return undefined
    const found = (choice: Choice): number =>
      Object.keys(argumentsIn({ text, language, nowMs }, choice.tool.parameters, {})).length
    const choice = next !== undefined && next.coverage === best.coverage && found(next) > found(best) ? next : best
    const covered = answersFrom(sources, text, language)
    if (covered < MIN_COVERAGE || covered < choice.coverage) return choice
    if (covered > choice.coverage) return undefined
    const given = argumentsIn({ text, language, nowMs }, choice.tool.parameters, {})
    return choice.tool.required.every(({ name }) => name in given) ? choice : undefined
  }

  /** The tool that the agent's own question speaks of, where the caller says yes to it. */
  #offered(
    text: string,
    before: string | undefined,
    tools: readonly KnownTool[],
    language: Language,
  ): Choice | undefined {
    if (this.#wanted !== undefined || !language.calling.yes.test(words(text).join(' '))) return undefined
    const question = before?.split(/(?<=[.!?…])\s+/).findLast((sentence) => sentence.includes('?'))
    return question === undefined ? undefined : chooseTool(question, tools, language, this.#from.nowMs)[0]
  }

  #continue(wanted: Wanted, text: string, language: Language, said: string | undefined): Reply | undefined {
    if (language.calling.nevermind.test(words(text).join(' '))) {
      this.#wanted = undefined
      return { text: language.say.prompt }
    }
    const isQuestion = answersFrom(this.#from.sources, text, language) >= MIN_COVERAGE
    const missing = missingOf(wanted)
    const heard = { text, language, nowMs: this.#from.nowMs, askedFor: isQuestion ? undefined : missing?.name }
    // A request's own words name no place or reason of it a second time.
    const found = argumentsIn(
      heard,
      isQuestion ? wanted.tool.parameters.filter(isPlain) : wanted.tool.parameters,
      wanted.known,
    )
    if (Object.keys(found).length > 0) {
      return this.#proceed({ ...wanted, known: { ...wanted.known, ...found }, asked: 0 }, language, said)
    }
    if (isQuestion) return undefined
    if (wanted.asked >= MAX_ASKED) {
      this.#wanted = undefined
      return undefined
    }
    return this.#proceed(wanted, language, said)
  }

  /** Asks for what is missing, or makes the call, once. */
  #proceed(wanted: Wanted, language: Language, said: string | undefined): Reply {
    const missing = missingOf(wanted)
    if (missing !== undefined) {
      this.#wanted = { ...wanted, asked: wanted.asked + 1 }
      const choices = missing.choices.length > 0 ? ` (${missing.choices.slice(0, 5).join(', ')})` : ''
      return { text: `${language.say.tell} ${missing.label}${choices}.` }
    }
    this.#wanted = undefined
    const { tool, known } = wanted
    const key = keyOf(tool, known)
    const before = this.#made.get(key)
    if (before !== undefined && !before.startsWith(language.say.failed)) return { text: before }
    this.#made.set(key, said)
    return { call: { name: tool.name, arguments: known } }
  }
}

const missingOf = ({ tool, known }: Wanted) => tool.required.find(({ name }) => !(name in known))
const isPlain = ({ kind }: { kind: string }): boolean => !['words', 'free', 'place', 'name', 'yes_no'].includes(kind)
const keyOf = (tool: KnownTool, given: Arguments): string =>
  `${tool.name} ${JSON.stringify(Object.entries(given).sort(([a], [b]) => (a < b ? -1 : 1)))}`
const clauses = (text: string): string[] =>
  text
    .split(/[.,;!?]+/)
    .map((clause) => words(clause).join(' '))
    .filter((clause) => clause !== '')
