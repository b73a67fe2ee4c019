import { parseTest } from '../../runtime/agent-tests/parse.ts'
import { AgentTest } from '../../runtime/agent-tests/schema.ts'
import type { Kind } from './kinds.ts'

/** Keys of a test; the schema that editors read is of the file alone. */
const KEYS = Object.keys(AgentTest.properties).filter((key) => key !== '$schema')

/** Stored tests: `tests/<agent>/<name>.yaml`, and `tests/<name>.yaml` where it is of any agent. */
export const TESTS: Kind = {
  noun: 'test',
  folder: 'tests',
  folderField: 'agent',
  extension: '.yaml',
  body: undefined,
  nameField: 'name',
  schema: AgentTest,
  fields: [...KEYS, 'agent'],
  defaults: Object.fromEntries([...KEYS.filter((key) => key !== 'name'), 'agent'].map((key) => [key, null])),
  list: '/tests',
  faultsOf: (text) => parseTest(text).faults ?? [],
  pathOf: ({ test_id }) => `/tests/${test_id}`,
  idOf: ({ test_id }) => String(test_id),
  textOf: ({ yaml }) => (typeof yaml === 'string' ? yaml : undefined),
  toFile({ definition, agent_id }, { nameOf }) {
    const test = definition as Record<string, unknown>
    const agent = typeof agent_id === 'string' ? (nameOf(agent_id) ?? agent_id) : null
    return { ...Object.fromEntries(KEYS.map((key) => [key, test[key] ?? null])), agent }
  },
  toApi({ agent }, { idOf }, text) {
    if (typeof agent !== 'string') return { fields: { agent_id: null, yaml: text }, missing: [] }
    const id = idOf(agent)
    return id === undefined
      ? { fields: { yaml: text }, missing: [agent] }
      : { fields: { agent_id: id, yaml: text }, missing: [] }
  },
  replaces: true,
}
