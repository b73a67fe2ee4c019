import t from 'tap'
import { DemoBackend } from '../../../../plugins/demo/backend.ts'
import { TOOLS } from '../../../../plugins/demo/tools.ts'
import { LANGUAGES } from '../../../../plugins/demo/words.ts'

/** A Wednesday. */
const NOW = Date.parse('2026-03-04T10:00:00Z')
const FRIDAY = '2026-03-06'
const room = { room: 'double', date: FRIDAY, nights: 1, name: 'Ada' }
const appointment = { service: 'haircut', date: '2026-03-07', time: '11:00', name: 'Ada' }

const call = (backend: DemoBackend, name: string, input: object, more: { workspaceId?: string; key?: string } = {}) =>
  backend.call({ name, input: { ...input }, workspaceId: 'w', ...more }).message

t.test('what a workspace books is taken, for that workspace alone', async (t) => {
  const backend = new DemoBackend(() => NOW)
  t.match(call(backend, 'free_rooms_en', { date: FRIDAY }), '3 single and 2 double')
  for (let i = 0; i < 2; i++) t.match(call(backend, 'book_room_en', room), 'is booked')
  t.match(call(backend, 'book_room_en', room), 'no double room is free')
  t.match(call(backend, 'free_rooms_de', { date: FRIDAY }), 'Doppelzimmer 0', 'in whatever language it is asked')
  t.match(call(backend, 'book_room_en', { ...room, date: '2026-03-05', nights: 2 }), 'Friday', 'the night that is full')
  t.match(call(backend, 'free_rooms_en', { date: FRIDAY }, { workspaceId: 'other' }), '2 double')
})

t.test('a booking that is made twice under one key is one', async (t) => {
  const backend = new DemoBackend(() => NOW)
  const first = call(backend, 'book_appointment_en', appointment, { key: 'a' })
  t.match(first, 'is booked')
  t.equal(call(backend, 'book_appointment_en', appointment, { key: 'a' }), first)
  t.match(call(backend, 'book_appointment_en', appointment, { key: 'b' }), 'That time is taken')
})

t.test('what can’t be booked is said with what can', async (t) => {
  const backend = new DemoBackend(() => NOW)
  t.match(call(backend, 'book_appointment_en', { ...appointment, date: '2026-03-08' }), 'we are closed')
  t.match(call(backend, 'book_appointment_en', { ...appointment, time: '20:00' }), 'these times are free: ')
  t.match(call(backend, 'free_times_en', { date: '2026-03-09' }), 'we are closed')
  t.match(call(backend, 'send_technician_en', { date: '2026-03-07', customer_number: '1' }), 'we are closed')
  t.match(call(backend, 'book_room_en', { ...room, date: '2026-03-03' }), 'That day is over')
  t.match(call(backend, 'free_rooms_en', { date: '2026-03-04' }), 'there are free rooms', 'today is not')
  for (const name of ['book_room', 'book_room_nl', 'constructor_en', '__proto___en', 'rooms_en']) {
    t.throws(() => call(backend, name, room), { message: `There is no tool "${name}"` })
  }
})

t.test('it remembers no more than its bounds', async (t) => {
  const backend = new DemoBackend(() => NOW)
  call(backend, 'book_appointment_en', appointment)
  for (let i = 0; i < 500; i++) call(backend, 'save_answers_en', {}, { workspaceId: String(i) })
  t.match(call(backend, 'book_appointment_en', appointment), 'is booked', 'the oldest of 501 workspaces is forgotten')
  for (let i = 0; i < 201; i++) {
    const date = new Date(NOW + i * 86_400_000).toISOString().slice(0, 10)
    call(backend, 'book_room_en', { ...room, date }, { key: String(i) })
  }
  t.match(call(backend, 'book_appointment_en', appointment), 'is booked', 'and the oldest of 201 bookings')
})

t.test('each language has each tool, whose arguments are named in it', async (t) => {
  t.equal(new Set(TOOLS.map(({ name }) => name)).size, 7 * 6)
  const shape = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shape(one)]))
      : [...String(value).matchAll(/\{\w+\}/g)].map(([name]) => name).sort()
  for (const [language, words] of Object.entries(LANGUAGES)) t.same(shape(words), shape(LANGUAGES.en), language)
})
