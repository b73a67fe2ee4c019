import t from 'tap'
import { resealAll } from '../../api/data-key.ts'
import { toolSecrets } from '../../api/tools/tool-calls.ts'
import { keyLabel, trunkSecrets } from '../../api/trunks/book.ts'
import { createLogger } from '../../runtime/log.ts'
import { startTestApi } from '../support/api.ts'

const NEW_KEY = 'another-data-key-another-data-key-another'
const log = createLogger({ level: 'silent', name: 'test' })

t.test('secrets sealed under an earlier key are sealed anew, after which that key opens nothing', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const { dataKey: old, jwtApiSecret } = api.config
  const tool = {
    type: 'http',
    name: 'orders',
    description: 'd',
    http: { url: 'https://example.com/', headers: { authorization: 'Bearer secret' } },
  }
  const agent = await ada.client.post('/agents', {
    body: { agent_name: 'Ada', system_prompt: 'You answer.', tools: [tool] },
  })
  const trunk = await ada.client.post('/trunks', {
    body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
  })
  t.same([agent.status, trunk.status], [201, 201])
  const { pool } = api.store
  const sealed = async () => {
    const { rows } = await pool.query(`select (select password from trunks) as password,
      (select tools -> 0 -> 'http' -> 'headers' ->> 'authorization' from agents) as header`)
    return rows[0] as { password: string; header: string }
  }
  const openedBy = async (key: string) => {
    const { password, header } = await sealed()
    return [
      trunkSecrets(key).open(password, trunk.body.trunk_id),
      toolSecrets(key).open(header, `tool headers of ${ada.workspaceId}`),
    ]
  }
  t.same(await openedBy(old), ['trunk secret', 'Bearer secret'])
  t.not(keyLabel(trunk.body.trunk_id), trunk.body.trunk_id)

  const rotated = { dataKey: NEW_KEY, dataKeyOld: ['a key of long ago', old], jwtApiSecret }
  t.same(await resealAll(api.store, rotated, log), { resealed: 2 })
  t.same(await openedBy(NEW_KEY), ['trunk secret', 'Bearer secret'])
  t.same(await openedBy(old), [undefined, undefined])
  const after = await sealed()
  t.same(await resealAll(api.store, rotated, log), { resealed: 0 }, 'a second start changes nothing')
  t.same(await sealed(), after)

  const lost = { dataKey: 'a third key, and nobody named the second one', dataKeyOld: [], jwtApiSecret }
  t.same(await resealAll(api.store, lost, log), { resealed: 0 })
  t.same(await sealed(), after, 'what no key opens is left as it is')
})

t.test('secrets of a time when the token’s key sealed them are sealed anew', async (t) => {
  const api = await startTestApi(t)
  const ada = await api.signUp()
  const trunk = await ada.client.post('/trunks', {
    body: { name: 'main', host: 'sip.example.com', username: 'ada', password: 'trunk secret' },
  })
  const { dataKey, jwtApiSecret } = api.config
  const id = trunk.body.trunk_id
  await api.store.pool.query('update trunks set password = $1', [trunkSecrets(jwtApiSecret).seal('of old', id)])
  t.same(await resealAll(api.store, { dataKey, dataKeyOld: undefined, jwtApiSecret }, log), { resealed: 1 })
  const { rows } = await api.store.pool.query('select password from trunks')
  t.equal(trunkSecrets(dataKey).open(rows[0].password, id), 'of old')
})
