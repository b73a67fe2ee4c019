import t from 'tap'
import { Overlap } from '../../../../../runtime/conversation/replying/overlap.ts'

const joined = (said: string, pieces: string[]) => {
  const overlap = new Overlap(said)
  return said + pieces.map((piece) => overlap.push(piece)).join('')
}

t.test('a continuation that begins again loses what was said', async (t) => {
  t.equal(joined('We are open', ['We ', 'are open', ' from nine', '.']), 'We are open from nine.')
  t.equal(joined('We are', ['We', ' are open.']), 'We are open.')
})

t.test('a continuation that goes on is kept, with a space where one is due', async (t) => {
  t.equal(joined('We are open', ['from', ' nine.']), 'We are open from nine.')
  t.equal(joined('We are open', [' from nine.']), 'We are open from nine.')
  t.equal(joined('We are open', ['.']), 'We are open.')
  t.equal(joined('We are', ['Well', ', hello']), 'We are Well, hello')
})

t.test('an answer that was not begun passes as it is', async (t) => {
  t.equal(joined('', ['We ', 'are']), 'We are')
})
