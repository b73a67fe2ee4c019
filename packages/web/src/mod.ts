export { CallError, type CallErrorCode } from './call-error.ts'
export {
  type CallEvents,
  type CallOptions,
  type CallState,
  PatchbayCall,
  type Transcript,
} from './patchbay-call.ts'
export type { AgentState } from './protocol.ts'
export { publicSession, type Session } from './session.ts'
