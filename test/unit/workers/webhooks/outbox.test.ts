import t from 'tap'
import type { DueDelivery } from '../../../../store/events/webhook-deliveries.ts'
import { DeliveryWindows } from '../../../../workers/webhooks/delivery-windows.ts'
import { DeliveryOutbox, type Taken } from '../../../../workers/webhooks/outbox.ts'

function world() {
  const rooms = new DeliveryWindows()
  const sent: DueDelivery[] = []
  const outbox = new DeliveryOutbox(rooms, ({ delivery }) => void sent.push(delivery))
  let ids = 0
  return {
    rooms,
    outbox,
    sent,
    add(webhookId: string, workspaceId: string, count: number) {
      for (let i = 0; i < count; i++) {
        const delivery = { id: String(ids++), webhookId, workspaceId } as DueDelivery
        outbox.add({ delivery, message: undefined, takenAtMs: 0 } as Taken)
      }
    },
    answer(delivery: DueDelivery, good = true) {
      rooms.answered(delivery.webhookId, good)
      outbox.left(delivery)
    },
    of: (webhookId: string) => sent.filter((one) => one.webhookId === webhookId).length,
  }
}

t.test('a receiver has as many requests under way as it keeps up with, and the next lie ready, in order', (t) => {
  const { rooms, outbox, sent, add, answer } = world()
  const webhooks = [{ id: 'a', workspaceId: 'w' }]
  t.same(rooms.free(webhooks, outbox.held, 0), { rooms: [{ webhookId: 'a', room: 32 }], most: 2_048 })
  add('a', 'w', 32)
  t.equal(sent.length, 8)
  t.same(rooms.free(webhooks, outbox.held, 0).rooms, [], 'no more is taken than that')
  t.notOk(outbox.isLow('a'))
  answer(sent[0]!)
  t.equal(sent.length, 10, 'one that is answered makes room for itself, and for one more')
  for (let i = 1; i < 32; i++) answer(sent[i]!)
  t.same(
    sent.map(({ id }) => Number(id)),
    Array.from({ length: 32 }, (_, i) => i),
  )
  t.ok(outbox.isLow('a') || outbox.held.size === 0)
  t.end()
})

t.test('whoever answers more between two looks has twice that ready for the next, a thousand at most', (t) => {
  const { rooms, outbox } = world()
  const webhooks = [{ id: 'a', workspaceId: 'w' }]
  const roomOf = () => rooms.free(webhooks, outbox.held, 0).rooms[0]?.room
  const answered = (count: number) => {
    for (let i = 0; i < count; i++) rooms.answered('a', true)
  }
  answered(100)
  t.equal(roomOf(), 256, 'four windows at least')
  answered(250)
  t.equal(roomOf(), 500)
  answered(5_000)
  t.equal(roomOf(), 1_024)
  t.equal(roomOf(), 256, 'what it did before the last look is over')
  answered(400)
  for (let i = 0; i < 6; i++) rooms.answered('a', false)
  t.equal(roomOf(), 1, 'and who fails has nothing')
  t.end()
})

t.test('for one that fails nothing lies ready, and one is tried at a time in the end', (t) => {
  const { rooms, outbox, sent, add, answer } = world()
  add('a', 'w', 8)
  for (const one of sent.slice(0, 8)) answer(one, false)
  t.same(rooms.free([{ id: 'a', workspaceId: 'w' }], outbox.held, 0).rooms, [{ webhookId: 'a', room: 1 }])
  add('a', 'w', 3)
  t.equal(sent.length, 9)
  t.end()
})

t.test('one workspace never sends all that is sent at once; what it holds back goes on when it may', (t) => {
  const { sent, add, answer, of, rooms } = world()
  for (let i = 0; i < 100; i++) rooms.answered('a', true)
  for (let i = 0; i < 100; i++) rooms.answered('b', true)
  for (let i = 0; i < 100; i++) rooms.answered('c', true)
  add('a', 'w', 64)
  add('b', 'w', 64)
  add('c', 'w', 64)
  t.equal(sent.length, 128)
  add('d', 'another', 8)
  t.equal(of('d'), 8)
  answer(sent.find(({ webhookId }) => webhookId === 'a')!)
  t.equal(of('c'), 1, 'there is nothing else of a')
  for (const one of sent.filter(({ webhookId }) => webhookId === 'b')) answer(one)
  t.equal(of('c'), 64)
  t.end()
})
