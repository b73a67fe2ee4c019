import { cleanText } from '../lib/text.ts'
import type { CallerAct, TestCaller } from './caller.ts'
import type { AgentTest } from './schema.ts'

const WAIT_MS = 500
const MAX_TURNS = 30
const MAX_CHARACTERS = 1_000
const HANGS_UP = '[hang up]'

type AskCaller = (messages: readonly { role: 'system' | 'user' | 'assistant'; content: string }[]) => Promise<string>

/** A caller whose words a language model makes up, from who it is, what it wants and what it knows. */
export class SimulatedCaller implements TestCaller {
  readonly #ask: AskCaller
  readonly #caller: AgentTest['caller']
  /** The caller is the model's own side: what it said is `assistant`. */
  readonly #said: { role: 'user' | 'assistant'; content: string }[] = []
  #over = false

  constructor(caller: AgentTest['caller'], ask: AskCaller) {
    this.#caller = caller
    this.#ask = ask
  }

  cutIn(): undefined {
    return undefined
  }

  async next(agentSaid: string): Promise<CallerAct> {
    const hangsUp: CallerAct = { waitMs: WAIT_MS, does: 'hang_up' }
    if (this.#over || this.#said.length >= 2 * MAX_TURNS) return hangsUp
    this.#said.push({ role: 'user', content: agentSaid || '(silence)' })
    const answer = cleanText(await this.#ask([{ role: 'system', content: this.#instructions() }, ...this.#said]))
    this.#over = answer.toLowerCase().includes(HANGS_UP)
    const say = answer
      .replace(/\[hang up\]/gi, '')
      .trim()
      .slice(0, MAX_CHARACTERS)
    if (say === '') return hangsUp
    this.#said.push({ role: 'assistant', content: say })
    return { waitMs: WAIT_MS, does: { say } }
  }

  unsaid(): string[] {
    return []
  }

  #instructions(): string {
    const { persona = 'An ordinary caller.', goal = '', knows = {}, language } = this.#caller
    const facts = Object.entries(knows).map(([name, value]) => {
      return `- ${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`
    })
    return [
      'You play the caller of a phone call. The other side is the agent of a company. You are not the agent and never help as one.',
      `Who you are: ${persona}`,
      `What you want: ${goal}`,
      ...(facts.length === 0
        ? []
        : [
            `What you know, and tell only when asked:\n${facts.join('\n')}`,
            'You know nothing else: say so when you are asked.',
          ]),
      ...(language === undefined ? [] : [`You speak the language ${language}.`]),
      'Say one or two short sentences at a time, as people speak on the telephone. Words alone: no stage directions, no Markdown.',
      `When you have what you want, or it is clear that you will not get it, say goodbye and end with ${HANGS_UP}`,
    ].join('\n')
  }
}
