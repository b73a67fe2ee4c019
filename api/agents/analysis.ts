import { type Static, Type } from 'typebox'
import type { ArgumentChecks } from '../../runtime/tools/argument-check.ts'
import type { Fault } from '../schema.ts'

/** What is found out of an agent's calls after their end. */
export const AnalysisField = Type.Object(
  {
    summary: Type.Optional(Type.Boolean({ description: 'Two or three sentences on the call. Default true.' })),
    success: Type.Optional(
      Type.String({ minLength: 1, maxLength: 2_000, description: 'In words, when a call was a success.' }),
    ),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'JSON Schema of an object: what is to be read out of the call.',
      }),
    ),
    dispositions: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({ minLength: 1, maxLength: 100 }),
          when: Type.String({ minLength: 1, maxLength: 500 }),
        }),
        { maxItems: 50, description: 'What a call may have come to, and when.' },
      ),
    ),
  },
  { description: "What the agent's language model finds out of its calls after their end." },
)
export type AnalysisInput = Static<typeof AnalysisField>

export const DEFAULT_ANALYSIS: AnalysisInput = { summary: true }

/** A fault where `data` is no JSON Schema that anything can be checked against. */
export async function analysisFaults(
  analysis: AnalysisInput | undefined,
  workspaceId: string,
  checks: ArgumentChecks,
): Promise<Fault[]> {
  if (analysis?.data === undefined) return []
  const msg = await checks.faultOfSchema(workspaceId, analysis.data)
  return msg === undefined ? [] : [{ loc: ['body', 'analysis', 'data'], msg, type: 'value_error' }]
}
