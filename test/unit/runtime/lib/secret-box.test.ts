import t from 'tap'
import { createSecretBox, keepOpened, type SecretBox } from '../../../../runtime/lib/secret-box.ts'

const box = createSecretBox('a'.repeat(32), 'tests')

t.test('what was opened is at hand, for its label alone, and the oldest is forgotten', async (t) => {
  const opened: string[] = []
  const counted: SecretBox = {
    seal: box.seal,
    open(sealed, label) {
      opened.push(label)
      return box.open(sealed, label)
    },
  }
  const kept = keepOpened(counted, 2)
  const sealed = kept.seal('hunter2', 'ada')
  t.equal(kept.open(sealed, 'ada'), 'hunter2')
  t.equal(kept.open(sealed, 'ada'), 'hunter2')
  t.equal(kept.open(sealed, 'eve'), undefined, 'moved to another row')
  t.same(opened.splice(0), ['ada', 'eve'])
  for (const label of ['b', 'c']) t.equal(kept.open(box.seal('s', label), label), 's')
  t.equal(kept.open(sealed, 'ada'), 'hunter2')
  t.same(opened, ['b', 'c', 'ada'])
})
