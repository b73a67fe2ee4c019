import { setImmediate as breathe } from 'node:timers/promises'
import t from 'tap'
import type { SessionPort } from '../../../../../runtime/call/link/linked-conversation.ts'
import { Knowledge } from '../../../../../runtime/conversation/replying/knowledge.ts'

/** A port whose lookups are answered by hand. */
function open() {
  const asked: { query: string; answer(text: string): void; fail(error: Error): void }[] = []
  const errors: unknown[] = []
  const stop = new AbortController()
  const ask = (_method: string, { query }: { query: string }) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    asked.push({
      query,
      answer: (text) => resolve({ passages: [{ documentId: 'd', filename: 'f.md', text, score: 1 }] }),
      fail: reject,
    })
    return promise
  }
  const port = { ask } as unknown as SessionPort
  return { knowledge: new Knowledge(port, stop.signal, (error) => errors.push(error)), asked, errors, stop }
}

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false
  void promise.then(() => {
    done = true
  })
  await breathe()
  return done
}

t.test('what was looked up for the interim words is there at once when the final words agree', async (t) => {
  const { knowledge, asked } = open()
  knowledge.hint('when do you open')
  t.equal(asked[0]?.query, 'when do you open')
  asked[0]?.answer('Nine to five.')
  await breathe()
  const note = knowledge.note('When do you open?')
  t.ok(await settled(note), 'the turn waits for nothing')
  t.match(await note, /\[f\.md\] Nine to five\./)
  t.equal(asked.length, 1)
})

t.test('final words that agree with a lookup under way share it', async (t) => {
  const { knowledge, asked } = open()
  knowledge.hint('when do you open')
  const note = knowledge.note('When do you open?')
  t.notOk(await settled(note))
  asked[0]?.answer('Nine to five.')
  t.match(await note, /Nine to five/)
  t.equal(asked.length, 1)
})

t.test('final words that differ are looked up themselves, without waiting for the interim ones', async (t) => {
  const { knowledge, asked } = open()
  knowledge.hint('when do you')
  const note = knowledge.note('When do you close?')
  t.same(
    asked.map(({ query }) => query),
    ['when do you', 'When do you close?'],
  )
  asked[1]?.answer('At five.')
  t.match(await note, /At five/)
})

t.test('of interim words, one lookup runs at a time and the newest is next', async (t) => {
  const { knowledge, asked } = open()
  const words = 'when do you open on the second of January'.split(' ')
  for (let n = 1; n <= words.length; n++) knowledge.hint(words.slice(0, n).join(' '))
  t.same(
    asked.map(({ query }) => query),
    ['when'],
  )
  asked[0]?.answer('x')
  await breathe()
  t.same(
    asked.map(({ query }) => query),
    ['when', words.join(' ')],
  )
  asked[1]?.answer('Closed.')
  await breathe()
  t.ok(await settled(knowledge.note(`${words.join(' ')}.`)))
  knowledge.hint('and then')
  t.equal(asked.length, 3)
})

t.test('a lookup that fails costs the passages, not the answer, and is made anew when asked again', async (t) => {
  const { knowledge, asked, errors } = open()
  const note = knowledge.note('When?')
  asked[0]?.fail(new Error('away'))
  t.equal(await note, undefined)
  t.match(errors, [{ message: 'away' }])
  void knowledge.note('When?')
  t.equal(asked.length, 2)
  t.equal(await knowledge.note('…?!'), undefined, 'nothing is asked for no words')
  t.equal(asked.length, 2)
})
