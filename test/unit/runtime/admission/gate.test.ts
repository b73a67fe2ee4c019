import t from 'tap'
import { AdmissionGate } from '../../../../runtime/admission/gate.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('as many run as there are places, and workspaces take turns', async (t) => {
  const gate = new AdmissionGate({ kind: 'test', places: 1, maxWaiting: 100 })
  const order: string[] = []
  const first = await gate.enter({ workspaceId: 'a' })
  const all = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) =>
    gate.run({ workspaceId: name[0]! }, async () => void order.push(name)),
  )
  await turn()
  t.same(order, [])
  first()
  first()
  await Promise.all(all)
  t.ok(order.indexOf('b1') <= 1 && order.indexOf('b2') <= 3, order.join())
})

t.test('one workspace leaves a place to others', async (t) => {
  const gate = new AdmissionGate({ kind: 'test', places: 2, mostOfOne: 1, maxWaiting: 100 })
  const held = await gate.enter({ workspaceId: 'a' })
  let second = false
  const waiting = gate.enter({ workspaceId: 'a' }).then((leave) => {
    second = true
    leave()
  })
  await gate.run({ workspaceId: 'b' }, async () => {})
  t.notOk(second)
  held()
  await waiting
  t.ok(second)
})

t.test('too many are refused, who goes away leaves the line, and a stream holds its place to its end', async (t) => {
  const gate = new AdmissionGate({ kind: 'test', places: 1, maxWaiting: 1 })
  const stream = gate.pass({ workspaceId: 'a' }, async function* () {
    yield 1
    yield 2
  })
  await stream.next()
  const abort = new AbortController()
  const waits = gate.enter({ workspaceId: 'b' }, abort.signal)
  await t.rejects(gate.enter({ workspaceId: 'b' }), { code: 'unavailable' })
  abort.abort(new Error('gone'))
  await t.rejects(waits, { message: 'gone' })
  const next = gate.run({ workspaceId: 'b' }, async () => 'ran')
  await stream.return(undefined)
  t.equal(await next, 'ran')
})

t.test('beside others each has fewer places, until they were not seen for a while', async (t) => {
  let nowMs = 0
  const besideOthers = { mostOfOne: 1, withinMs: 1_000, monotonicMs: () => nowMs }
  const gate = new AdmissionGate({ kind: 'test', places: 4, mostOfOne: 2, besideOthers, maxWaiting: 100 })
  const [a, b] = [{ workspaceId: 'a' }, { workspaceId: 'b' }]
  const alone = [gate.tryEnter(a), gate.tryEnter(a), gate.tryEnter(a)]
  t.same(
    alone.map((leave) => leave !== undefined),
    [true, true, false],
  )
  for (const leave of alone) leave?.()

  const other = gate.tryEnter(b)
  other?.()
  const first = gate.tryEnter(a)
  t.equal(gate.tryEnter(a), undefined, 'the other was here a moment ago')
  const waiting = gate.enter(a)
  first?.()
  const second = await waiting
  nowMs = 999
  t.equal(gate.tryEnter(a), undefined)
  nowMs = 1_000
  t.ok(gate.tryEnter(a), 'now it is alone again')
  second()
})
