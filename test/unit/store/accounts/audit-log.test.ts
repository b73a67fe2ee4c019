import t from 'tap'
import { writeAudit } from '../../../../store/accounts/audit-log.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

t.test('an entry is on the disk when its write is over: its commit waits for it', async (t) => {
  const store = openStore({ databaseUrl: await testDatabase(t), maxConnections: 1 })
  t.teardown(() => store.close())
  // The servers of tests wait for no commit.
  await store.pool.query('set synchronous_commit = on')
  await store.pool.query('create table commits (waited text)')
  await store.pool.query(`create function note_commit() returns trigger language plpgsql as $$
    begin insert into commits values (current_setting('synchronous_commit')); return null; end $$`)
  // Runs when nothing but the commit is left.
  await store.pool.query(`create constraint trigger noted after insert on audit_log deferrable initially deferred
    for each row execute function note_commit()`)
  await writeAudit(store.pool, {
    workspaceId: null,
    actor: { kind: 'shell', id: null, name: 'test' },
    action: 'test',
    resource: 'test',
    detail: {},
    address: '',
    requestId: '',
  })
  t.same((await store.pool.query('select waited from commits')).rows, [{ waited: 'on' }])
})
