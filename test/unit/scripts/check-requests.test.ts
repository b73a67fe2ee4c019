import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { checkRequests } from '../../../scripts/provider-currency/check-requests.ts'
import { testFolder } from '../../support/instance/services.ts'

const TYPES = (fields: string) =>
  `export declare namespace OpenAI { interface ChatCompletionCreateParamsStreaming { ${fields} } }\n`
const TAKEN = `model: string; messages: { role: string; content?: string | null; tool_calls?: object[]; tool_call_id?: string }[];
  stream: true; stream_options?: object; tools?: object[]; temperature?: number; max_completion_tokens?: number; prompt_cache_key?: string`

t.test('a request that the vendor’s types refuse is told with the reason, and one they take is not', async (t) => {
  const folder = await testFolder(t)
  await mkdir(join(folder, 'package'))
  await writeFile(join(folder, 'package/index.d.ts'), TYPES(`${TAKEN}; reasoning_effort?: string`))
  t.same(await checkRequests('openai', ['gpt-6-luna', 'gpt-4o'], folder), { requests: 4, faults: [] })
  await writeFile(join(folder, 'package/index.d.ts'), TYPES(TAKEN))
  const refused = await checkRequests('openai', ['gpt-6-luna', 'gpt-4o'], folder)
  t.equal(refused?.faults.length, 2, 'those of the model that reasons')
  t.match(refused?.faults[0], /reasoning_effort/)
  t.equal(await checkRequests('cartesia', ['sonic-3'], folder), undefined)
})
