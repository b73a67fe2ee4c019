import { sql } from 'kysely'
import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { createUser } from '../../../../store/accounts/users.ts'
import { deleteAgent, insertAgent, listAgents, type NewAgent, updateAgent } from '../../../../store/agents/agents.ts'
import { openStore } from '../../../../store/database/database.ts'
import { testDatabase } from '../../../support/instance/services.ts'

const AGENT: NewAgent = {
  agent_name: 'A',
  llm_provider: 'x',
  llm_model: 'x',
  temperature: 1,
  system_prompt: 'x',
  first_message: '',
  stt_provider: 'x',
  stt_model: 'x',
  tts_provider: 'x',
  tts_voice: 'x',
}

const store = openStore({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none' })
const own = uuidv7()
const { db } = store.tenant(own)

t.test('every tenant table of a query is bound, joins and subqueries too', async (t) => {
  const conditions = (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
    const { sql, parameters } = query.compile()
    return [sql.match(/"workspace_id" = \$\d+/g)?.length ?? 0, parameters.filter((value) => value === own).length]
  }
  t.same(conditions(db.selectFrom('agents').selectAll().where('agent_name', '=', 'x')), [1, 1])
  t.same(conditions(db.selectFrom('agents as a').selectAll()), [1, 1])
  t.same(conditions(db.selectFrom(['agents', 'calls']).select('agents.id')), [2, 2])
  t.same(conditions(db.selectFrom('calls').leftJoin('agents', 'agents.id', 'calls.agent_id').selectAll()), [2, 2])
  t.same(
    conditions(
      db
        .selectFrom('users')
        .select('id')
        .where((eb) => eb.exists(eb.selectFrom('calls').select('id').whereRef('calls.id', '=', 'users.id'))),
    ),
    [1, 1],
  )
  t.same(
    conditions(
      db
        .with('mine', (cte) => cte.selectFrom('agents').selectAll())
        .selectFrom('mine')
        .selectAll(),
    ),
    [1, 1],
  )
  t.same(conditions(db.selectFrom('agents').select('id').union(db.selectFrom('calls').select('id'))), [2, 2])
  t.same(conditions(db.updateTable('agents').set({ agent_name: 'y' })), [1, 1])
  t.same(conditions(db.deleteFrom('calls').where('id', '=', own)), [1, 2])
  t.same(conditions(db.deleteFrom('calls').using('agents').whereRef('agents.id', '=', 'calls.agent_id')), [2, 2])
  t.same(conditions(db.selectFrom('users').selectAll()), [0, 0])
  const either = db
    .selectFrom('agents')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', 'a'), eb('id', '=', 'b')]))
  t.match(either.compile().sql, /where \("id" = \$1 or "id" = \$2\) and "agents"."workspace_id" = \$3/)
})

t.test('inserted rows get the workspace, one or many', async (t) => {
  const turn = { call_id: own, role: 'user' as const, text: '', start_ms: 0, end_ms: 0 }
  const one = db
    .insertInto('call_turns')
    .values({ ...turn, seq: 0 })
    .compile()
  t.equal(one.parameters.at(-1), own)
  const many = db
    .insertInto('call_turns')
    .values([
      { ...turn, seq: 0 },
      { ...turn, seq: 1, interrupted: true },
    ])
    .compile()
  t.match(many.sql, /"workspace_id"\) values \(.*\), \(.*\)$/)
  t.equal(many.parameters.filter((value) => value === own).length, 4)
  const upsert = db
    .insertInto('phone_numbers')
    .values({ phone_number: '+1', provider: 'x' })
    .onConflict((conflict) => conflict.column('phone_number').doUpdateSet({ provider: 'y' }))
    .compile()
  t.match(upsert.sql, /do update set "provider" = \$4 where "phone_numbers"."workspace_id" = \$5$/)
})

t.test('what cannot be bound is refused', async (t) => {
  const refused = (run: () => unknown, what: RegExp) => t.throws(run, { code: 'internal', cause: { message: what } })
  refused(() => sql`select * from agents`.compile(db), /select \* from agents/)
  refused(() => sql`update "calls" set status = ${own}, agent_name = 'x'`.compile(store.global), /calls/)
  refused(
    () => db.selectFrom(sql`calls`.as('c')).selectAll().where(sql<boolean>`exists (select from agents)`).compile(),
    /agents/,
  )
  t.ok(
    sql`select * from agents where workspace_id = ${own}`.compile(db),
    'raw SQL that carries the workspace is its author’s word',
  )
  refused(() => sql`select * from agents where workspace_id = ${uuidv7()}`.compile(db), /agents/)
  const untyped = db as unknown as typeof store.acrossTenants
  refused(
    () =>
      untyped
        .insertInto('agents')
        .values({ ...AGENT, id: own, workspace_id: own } as never)
        .compile(),
    /workspace_id of "agents"/,
  )
  refused(
    () =>
      untyped
        .updateTable('agents')
        .set({ workspace_id: own } as never)
        .compile(),
    /an update of workspace_id/,
  )
  refused(
    () => db.insertInto('agents').columns(['id']).expression(db.selectFrom('users').select('id')).compile(),
    /insert into "agents" from a query/,
  )
  refused(
    () => db.mergeInto('agents').using('users', 'users.id', 'agents.id').whenMatched().thenDelete().compile(),
    /merge/,
  )
  const foreign = store.tenant(uuidv7()).db.selectFrom('calls').select('id')
  refused(() => db.selectFrom('agents').select('id').union(foreign).compile(), /a query of another workspace within it/)
  refused(() => db.selectFrom('users').crossJoin('agents').selectAll().compile(), /without a condition/)
  refused(
    () => (store.global as unknown as typeof db).selectFrom('agents').selectAll().compile(),
    /"agents" through the global handle/,
  )
})

t.test('two workspaces in one database never meet', async (t) => {
  const live = openStore({ databaseUrl: await testDatabase(t), maxConnections: 2 })
  t.teardown(() => live.close())
  const tenants = await Promise.all(
    ['a@example.com', 'b@example.com'].map(async (email) => {
      const user = await createUser(live.global, { name: email, email, passwordHash: '', phoneNumber: '+14155550123' })
      return live.tenant(user.current_workspace_id ?? '')
    }),
  )
  const [a, b] = tenants as [(typeof tenants)[0], (typeof tenants)[0]]
  const agent = await insertAgent(a, AGENT)
  t.equal(agent.workspace_id, a.workspaceId)
  t.equal((await listAgents(a)).length, 1)
  t.same(await listAgents(b), [])
  t.equal(await updateAgent(b, agent.id, { agent_name: 'stolen' }), undefined)
  t.equal(await deleteAgent(b, agent.id, new Date()), false)
  t.match(await listAgents(a), [{ agent_name: 'A' }])
  await a.db.transaction().execute(async (trx) => {
    t.equal((await trx.selectFrom('agents').selectAll().execute()).length, 1, 'a transaction is bound too')
  })
  await t.rejects(
    b.db.transaction().execute((trx) => sql`delete from agents`.execute(trx)),
    { code: 'internal' },
  )
})

t.teardown(() => store.close())
