import type { Failure } from '../../../../packages/plugin/mod.ts'
import { failureOf } from '../failure-of.ts'
import type { RefusedByDeno } from '../messages.ts'

/** What a plugin's code threw, whatever that is, in words: for its operator and its author. */
interface Thrown {
  message: string
  /** Where the plugin has judged it. */
  failure?: Failure
  /** A permission that was not granted is the reason. */
  refused?: RefusedByDeno
}

const MAX_CHARS = 2_000

/**
 * Reads what a plugin threw: `null`, text and errors alike. An error that the plugin's code didn't make on purpose is given with the
 * file and line of it. Never throws. Imports nothing of Node: it runs in Deno, too.
 * @param folder URL of the plugin's folder, which its files are named from
 */
export function thrownOf(error: unknown, folder: string): Thrown {
  try {
    const failure = failureOf((error as { failure?: unknown } | null | undefined)?.failure)
    if (!(error instanceof Error)) return { message: `It threw ${text(error)}`.slice(0, MAX_CHARS), ...judged(failure) }
    if (failure !== undefined) return { message: text(error.message).slice(0, MAX_CHARS), failure }
    const refused = refusedIn(error)
    if (refused !== undefined) return refused
    const place = placeIn(error, folder)
    const message = text(error.message).slice(0, MAX_CHARS) || error.name
    return { message: place === undefined ? message : `${message} (${place})` }
  } catch {
    return { message: 'It threw what can’t be read' }
  }
}

const MAX_CAUSES = 5
/** Deno's words, and those of the role that it asked. */
const REFUSAL = /[Rr]equires (\w+) access to "(.*?)"/s

function refusedIn(error: unknown): Thrown | undefined {
  let link = error
  for (let depth = 0; depth < MAX_CAUSES && link instanceof Error; depth++) {
    const found = REFUSAL.exec(link.message)
    if (found !== null && (link.name === 'NotCapable' || depth > 0)) {
      const [, permission = '', target = ''] = found
      const isCounted = link.message.includes('grant it')
      return { message: link.message.slice(0, MAX_CHARS), refused: { permission, target, isCounted } }
    }
    link = link.cause
  }
  return undefined
}

const judged = (failure: Failure | undefined): { failure?: Failure } => (failure === undefined ? {} : { failure })

function text(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The place in the plugin's own files where an error arose: `mod.ts:12`. */
function placeIn({ stack }: Error, folder: string): string | undefined {
  const line = String(stack)
    .split('\n')
    .find((line) => /^\s+at /.test(line) && line.includes(folder))
  return line === undefined ? undefined : /^[^\s)]+?:\d+/.exec(line.slice(line.indexOf(folder) + folder.length))?.[0]
}
