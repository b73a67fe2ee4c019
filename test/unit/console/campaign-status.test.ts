import t from 'tap'
import { shownStatus } from '../../../web/console/src/screens/campaign/shown-status.ts'

t.test('a campaign is a draft while it has nobody to call, whatever the API calls that', async (t) => {
  for (const status of ['Completed', 'Stopped', 'Running'] as const) {
    t.equal(shownStatus({ status, paused: false, pause_reason: null, prospects: 0 }), 'draft', status)
  }
})

t.test('one that stands still waits, or somebody or its own bounds have paused it', async (t) => {
  const people = { prospects: 4 }
  t.equal(shownStatus({ ...people, status: 'Running', paused: false, pause_reason: null }), 'running')
  t.equal(shownStatus({ ...people, status: 'Stopped', paused: false, pause_reason: null }), 'waiting')
  t.equal(shownStatus({ ...people, status: 'Stopped', paused: true, pause_reason: null }), 'paused')
  t.equal(shownStatus({ ...people, status: 'Stopped', paused: false, pause_reason: 'budget_reached' }), 'paused')
  t.equal(shownStatus({ ...people, status: 'Completed', paused: false, pause_reason: null }), 'completed')
  t.equal(shownStatus({ ...people, status: 'Inactive', paused: true, pause_reason: null }), 'off')
})
