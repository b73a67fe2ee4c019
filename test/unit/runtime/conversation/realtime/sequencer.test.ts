import { test } from 'tap'
import { ResponseSequencer } from '../../../../../runtime/conversation/realtime/sequencer.ts'

const respond = (of: string) => [{ type: 'respond', of }]
const cancel = (responseId: string) => [{ type: 'cancel', responseId }]

test('one response at a time: a request waits for the end of the one before', async (t) => {
  const sequencer = new ResponseSequencer<string>()
  t.same(sequencer.request('first'), respond('first'))
  t.same(sequencer.request('second'), [])
  t.same(sequencer.started('r1'), [])
  t.equal(sequencer.ownerOf('r1'), 'first')
  t.same(sequencer.done('r1'), respond('second'))
  t.same(sequencer.started('r2'), [])
  t.equal(sequencer.ownerOf('r2'), 'second')
})

test('a response that is cancelled before it began is cancelled once it has, and heard by nobody', async (t) => {
  const sequencer = new ResponseSequencer<string>()
  sequencer.request('first')
  t.same(sequencer.cancel('first'), [])
  t.same(sequencer.request('second'), [], 'it may begin yet')
  t.same(sequencer.started('r1'), cancel('r1'))
  t.equal(sequencer.ownerOf('r1'), undefined)
  t.same(sequencer.done('r1'), respond('second'))
})

test('a running response is cancelled once, and its end releases the next', async (t) => {
  const sequencer = new ResponseSequencer<string>()
  sequencer.request('first')
  sequencer.started('r1')
  t.same(sequencer.cancel('first'), cancel('r1'))
  t.same(sequencer.cancel('first'), [])
  t.same(sequencer.request('second'), [])
  t.same(sequencer.done('r1'), respond('second'))
  t.same(sequencer.cancel('of long ago'), [])
})

test('a request that waits and is given up is never put', async (t) => {
  const sequencer = new ResponseSequencer<string>()
  sequencer.request('first')
  sequencer.started('r1')
  sequencer.request('second')
  t.same(sequencer.cancel('second'), [])
  t.same(sequencer.done('r1'), [])
})

test('a response that nobody asked for is cancelled', async (t) => {
  t.same(new ResponseSequencer<string>().started('r9'), cancel('r9'))
})

test('a refusal is put again, and given up after three', async (t) => {
  const sequencer = new ResponseSequencer<string>()
  sequencer.request('first')
  t.same(sequencer.refused(), respond('first'))
  t.same(sequencer.refused(), respond('first'))
  t.equal(sequencer.refused(), undefined)
})
