/**
 * The heap is marked by one thread beside the loop: four, as Node has them on the smallest machine, keep all else that such a
 * machine does from its processors for a tenth of a second.
 */
const API_NODE_OPTIONS = ['--concurrent-marking-max-worker-num=1'] as const

/**
 * What Node runs a voice worker with. Streams and promises of a conversation are created by the thousand a second, and each pays for
 * whose context it belongs to: kept in the engine's own frame, as Node does by itself from 24 on, that is a sixth less work a call.
 * V8 would collect garbage with threads of its own: where real time is refused the loop waits for their turns of the processor (60 ms
 * and more for what takes 5), and where each core has its worker they only cost. What they would save is little: this heap is
 * marked through in 15 ms.
 */
export const VOICE_NODE_OPTIONS = [
  // Later Nodes do so by themselves and refuse the option.
  ...(process.versions.node.startsWith('22.') ? ['--experimental-async-context-frame'] : []),
  '--single-threaded-gc',
]

const ROLES: ReadonlySet<string> = new Set(['start', 'api', 'jobs', 'voice'])

/** What the roles on a command line need of Node. V8 takes it only at its start: scripts/main.sh and the units give it. */
export function nodeOptionsOf(args: readonly string[]): readonly string[] {
  if (!ROLES.has(args[0] ?? '')) return []
  if (args.includes('voice')) return VOICE_NODE_OPTIONS
  return args.includes('start') || args.includes('api') ? API_NODE_OPTIONS : []
}
