import type { InstanceClient } from '../instance/instance-client.ts'
import type { ReportedCase } from './run-report.ts'

/** Every case of a run. */
export const casesOfRun = async (client: InstanceClient, runId: string): Promise<ReportedCase[]> =>
  (await client.all(`/tests/runs/${runId}/cases`)) as unknown as ReportedCase[]
