import t from 'tap'
import { WrongTokens } from '../../../../../runtime/call/link/wrong-tokens.ts'
import { LINK_TOKEN, startNode, upgradeStatus } from '../../../../support/instance/realtime-node.ts'

t.test('a network that shows wrong tokens is refused for the rest of the minute, others are not', async (t) => {
  let nowMs = 0
  const tokens = new WrongTokens({ monotonicMs: () => nowMs })
  for (let i = 0; i < 20; i++) {
    t.notOk(tokens.isRefused('203.0.113.9'))
    tokens.wrong('203.0.113.9')
  }
  t.ok(tokens.isRefused('203.0.113.9'))
  t.notOk(tokens.isRefused('203.0.113.10'))
  nowMs = 60_000
  t.notOk(tokens.isRefused('203.0.113.9'))
})

t.test('a stranger beside a voice worker, or behind the same proxy, does not lock it out', async (t) => {
  const tokens = new WrongTokens({ monotonicMs: () => 0 })
  tokens.right('10.0.0.2')
  for (let i = 0; i < 50; i++) tokens.wrong('10.0.0.2')
  t.notOk(tokens.isRefused('10.0.0.2'))
})

t.test('so many networks are counted at most: the one that was first to be wrong is forgotten first', async (t) => {
  const tokens = new WrongTokens({ monotonicMs: () => 0 })
  for (const address of ['203.0.113.9', '203.0.113.10']) for (let i = 0; i < 20; i++) tokens.wrong(address)
  for (let i = 0; i < 9_999; i++) tokens.wrong(`198.${i >> 8}.${i & 255}.1`)
  t.notOk(tokens.isRefused('203.0.113.9'))
  t.ok(tokens.isRefused('203.0.113.10'))
})

t.test('a link from a network that is refused is not even asked for its token', async (t) => {
  const node = await startNode(t)
  for (let i = 0; i < 20; i++) t.equal(await upgradeStatus(node, '/link', { authorization: `Bearer ${i}` }), 401)
  for (const token of ['wrong', LINK_TOKEN]) {
    t.equal(await upgradeStatus(node, '/link', { authorization: `Bearer ${token}` }), 429)
  }
})
