/**
 * What Node runs a voice worker with. Streams and promises of a conversation are created by the thousand a second, and each pays for
 * whose context it belongs to: kept in the engine's own frame, as Node does by itself from 24 on, that is a sixth less work a call. A
 * heap that starts at what twenty calls need is not marked through every few seconds. V8 would collect garbage with threads of its own:
 * where real time is refused the loop waits for their turns of the processor (60 ms and more for what takes 5), and where each core
 * has its worker they only cost. What they would save is little: this heap is marked through in 15 ms.
 */
export const VOICE_NODE_OPTIONS = [
  '--experimental-async-context-frame',
  '--initial-heap-size=256',
  '--single-threaded-gc',
] as const
