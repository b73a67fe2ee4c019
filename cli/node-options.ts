import { VOICE_NODE_OPTIONS } from '../workers/voice/node-options.ts'

/**
 * A heap that starts at what a busy node needs is not marked through every few seconds, and is not made smaller when requests become
 * fewer: calls go on then, and the loop would stand 40 ms. One that is larger stands longer at once, for what dies in it is given back while
 * the loop waits. Such a heap, of all that requests bring, is collected with V8's threads beside the loop; a voice worker's is small
 * (workers/voice/node-options.ts). It is marked by one of them: four, as Node has them on the smallest machine, keep all else that such
 * a machine does from its processors for a tenth of a second.
 */
const API_NODE_OPTIONS = [
  '--initial-heap-size=208',
  '--no-memory-reducer',
  '--concurrent-marking-max-worker-num=1',
] as const

const ROLES: ReadonlySet<string> = new Set(['start', 'api', 'jobs', 'voice'])

/** What the roles on a command line need of Node. */
function nodeOptionsOf(args: readonly string[]): readonly string[] {
  if (!ROLES.has(args[0] ?? '')) return []
  if (args.includes('voice')) return VOICE_NODE_OPTIONS
  return args.includes('start') || args.includes('api') ? API_NODE_OPTIONS : []
}

/**
 * Becomes, in the same process, a Node with the options that its roles need, however it was started: V8 takes them only as it
 * begins. A child of Patchbay's was started with them; where a process can't become another one it runs without.
 */
export function takeNodeOptions(args: readonly string[]): void {
  const { execve, execArgv, execPath, argv } = process
  const missing = nodeOptionsOf(args).filter((option) => !execArgv.includes(option))
  if (missing.length === 0 || process.send !== undefined || execve === undefined) return
  execve.call(process, execPath, [execPath, ...execArgv, ...missing, ...argv.slice(1)])
}
