/**
 * A heap that starts at what a busy node needs is not marked through every few seconds, and is not made smaller when requests become
 * fewer: calls go on then, and the loop would stand 40 ms. One that is larger stands longer at once, for what dies in it is given back while
 * the loop waits. Such a heap, of all that requests bring, is collected with V8's threads beside the loop; a voice worker's is small.
 * It is marked by one of them: four, as Node has them on the smallest machine, keep all else that such a machine does from its
 * processors for a tenth of a second.
 */
const API_NODE_OPTIONS = [
  '--initial-heap-size=208',
  '--no-memory-reducer',
  '--concurrent-marking-max-worker-num=1',
] as const

/**
 * What Node runs a voice worker with. Streams and promises of a conversation are created by the thousand a second, and each pays for
 * whose context it belongs to: kept in the engine's own frame, as Node does by itself from 24 on, that is a sixth less work a call. A
 * heap that starts at what twenty calls need is not marked through every few seconds. V8 would collect garbage with threads of its own:
 * where real time is refused the loop waits for their turns of the processor (60 ms and more for what takes 5), and where each core
 * has its worker they only cost. What they would save is little: this heap is marked through in 15 ms.
 */
export const VOICE_NODE_OPTIONS = [
  // Later Nodes do so by themselves and refuse the option.
  ...(process.versions.node.startsWith('22.') ? ['--experimental-async-context-frame'] : []),
  '--initial-heap-size=256',
  '--single-threaded-gc',
]

const ROLES: ReadonlySet<string> = new Set(['start', 'api', 'jobs', 'voice'])

/** What the roles on a command line need of Node. V8 takes it only at its start: scripts/main.sh and the units give it. */
export function nodeOptionsOf(args: readonly string[]): readonly string[] {
  if (!ROLES.has(args[0] ?? '')) return []
  if (args.includes('voice')) return VOICE_NODE_OPTIONS
  return args.includes('start') || args.includes('api') ? API_NODE_OPTIONS : []
}
