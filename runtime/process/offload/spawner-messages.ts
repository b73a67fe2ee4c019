/** What a role and the process that starts its programs say to each other. */
export interface SpawnOrder {
  id: number
  program: string
  args: readonly string[]
  /** All it finds in its environment. */
  variables: Readonly<Record<string, string>>
  /** Standard input, output and error, and a fourth where its library writes to those. */
  pipes: 3 | 4
  niceness: number
  /** Linux shares the processor out among sessions: it has its share apart from the others'. */
  ownSession?: true
}

export type FromSpawner =
  /** With the handle of the pipe; the last one says that it runs. */
  | { type: 'pipe'; id: number; pid: number; isLast: boolean }
  | { type: 'failed'; id: number; message: string }
  | { type: 'exit'; id: number; code: number | null; signal: NodeJS.Signals | null }
