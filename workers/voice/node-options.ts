/**
 * What Node runs a voice worker with. Streams and promises of a conversation are created by the thousand a second, and each pays for
 * whose context it belongs to: kept in the engine's own frame, as Node does by itself from 24 on, that is a sixth less work a call.
 */
export const VOICE_NODE_OPTIONS = ['--experimental-async-context-frame'] as const
