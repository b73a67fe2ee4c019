import type { InstanceClient } from '../instance/instance-client.ts'
import type { ReportedCase } from './run-report.ts'

const PAGE_SIZE = 100

/** Every case of a run. */
export async function casesOfRun(client: InstanceClient, runId: string): Promise<ReportedCase[]> {
  const all: ReportedCase[] = []
  for (let page = 1; ; page++) {
    const { body } = await client.get(`/tests/runs/${runId}/cases?page=${page}&page_size=${PAGE_SIZE}`)
    const { items } = body as { items: ReportedCase[] }
    all.push(...items)
    if (items.length < PAGE_SIZE) return all
  }
}
