import t from 'tap'
import { ERRORS } from '../../../runtime/lib/errors.ts'
import { configurationTable } from '../../../scripts/configuration-table.ts'
import { startTestApi } from '../../support/instance/api.ts'
import { runMain } from '../../support/instance/instance.ts'
import { leavesOf, matchesSnapshot } from '../../support/source/snapshot.ts'

/** What users rely on: it changes on purpose only. The names of metrics are compared by test/system/deploy/prometheus.test.ts. */

/** Prose may be written better at any time. */
const isProse = (line: string): boolean => /\/(description|summary)( |\/)/.test(line)

t.test('the documents of the API and of the realtime protocol are as kept', async (t) => {
  const api = await startTestApi(t)
  for (const name of ['openapi', 'asyncapi']) {
    const { body } = await api.client().get(`/${name}.json`)
    delete body.info
    delete body.servers
    const lines = leavesOf(body)
      .filter((line) => !isProse(line) && !/\/examples?\/|\/headers\/x-request-id\//.test(line))
      // Which errors an operation has; their body is one for all.
      .map((line) => line.replace(/(\/responses\/[45]\d\d)\/.*/, '$1'))
    await matchesSnapshot(t, `${name}.txt`, `${[...new Set(lines)].sort().join('\n')}\n`)
  }
})

t.test('the settings are as kept', async (t) => {
  const rows = configurationTable()
    .split('\n')
    .map((row) => row.split('|').slice(0, 4).join('|'))
  await matchesSnapshot(t, 'settings.txt', `${rows.join('\n')}\n`)
})

t.test('the errors are as kept', async (t) => {
  await matchesSnapshot(t, 'errors.txt', `${leavesOf(ERRORS).sort().join('\n')}\n`)
})

t.test('the commands are as kept', async (t) => {
  const { stdout } = await runMain(['help'])
  await matchesSnapshot(t, 'help.txt', stdout)
})
