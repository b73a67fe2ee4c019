import { fits } from './pattern.ts'
import type { AgentTest, ToolMock } from './schema.ts'

/** What a mock answers: what the language model is to read, and how long the tool took. */
export interface MockAnswer {
  output: string
  afterMs: number
  /** Why the tool failed, as the log of a call has it. */
  error?: string
}

/** The test can't go on: a tool was called that nothing stands in for. */
export class UnmockedTool extends Error {}

/** What stands in for an agent's tools in one run. Never calls anything. */
export class ToolMocks {
  readonly #mocks: AgentTest['tools']
  #state: Record<string, unknown>

  constructor({ tools, state }: Pick<AgentTest, 'tools' | 'state'>) {
    this.#mocks = tools
    this.#state = { ...state }
  }

  has(name: string): boolean {
    return this.#mocks !== undefined && Object.hasOwn(this.#mocks, name)
  }

  /** @throws UnmockedTool */
  call(name: string, given: Record<string, unknown>): MockAnswer {
    const own = this.has(name) ? this.#mocks?.[name] : undefined
    if (own === undefined) throw new UnmockedTool(`The tool "${name}" has no mock: add it under \`tools\``)
    const all: readonly ToolMock[] = Array.isArray(own) ? own : [own]
    const mock = all.find(
      ({ when = {}, state }) => fits(when, given) === true && fits(state?.expect ?? {}, this.#state) === true,
    )
    if (mock === undefined) {
      throw new UnmockedTool(`No mock of the tool "${name}" fits ${JSON.stringify(given).slice(0, 500)}`)
    }
    if (mock.state?.set !== undefined) this.#state = { ...this.#state, ...mock.state.set }
    const afterMs = mock.after_ms ?? 0
    if (mock.fails !== undefined) {
      const error = typeof mock.fails === 'number' ? `The server answered ${mock.fails}` : mock.fails
      return { output: `The request failed: ${error}`, afterMs, error }
    }
    const { returns = { ok: true } } = mock
    return { output: typeof returns === 'string' ? returns : JSON.stringify(returns), afterMs }
  }
}
