import type { Resume, Turn } from '../../../../../runtime/call/log/resume.ts'

/** What was said before, for a worker that takes a call over. */
export const resumeAfter = (turns: Turn[]): Resume => ({
  turns,
  tools: [],
  muted: false,
  held: false,
  takenOver: false,
  notes: [],
  waiting: [],
})
