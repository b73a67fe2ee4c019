import { cleanText } from '../lib/text.ts'
import { ForbiddenAddress } from './connections.ts'

/** The same error for an unknown and a forbidden host: the difference would map the operator's network. */
const NO_HOST = 'the host is unknown, or none that tools may reach'
const MAX_FAULT_CHARS = 2_000
const UNKNOWN_HOST = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'])

/** Why a server was not reached: `fault` for the agent's maker, `reason` for the operator alone. */
export function unreached(error: unknown): { fault: string; reason?: string } {
  if (error instanceof ForbiddenAddress) return { fault: NO_HOST, reason: error.message }
  const { code, message } = error as NodeJS.ErrnoException
  if (typeof code === 'string' && UNKNOWN_HOST.has(code)) return { fault: NO_HOST, reason: message }
  return { fault: cleanText(typeof code === 'string' ? code : message, MAX_FAULT_CHARS) }
}
