import type { TestSubjects } from '../../workers/agent-tests/start.ts'
import { limitsOf } from '../agents/speech.ts'
import { retrieve } from '../knowledge/retrieve.ts'
import { agentSpec } from '../realtime/agent-spec.ts'

/** Agents under test are made ready as those of calls are. */
export const subjects: TestSubjects = { agentSpec, limitsOf, retrieve }
