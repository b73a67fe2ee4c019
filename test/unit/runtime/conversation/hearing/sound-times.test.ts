import t from 'tap'
import { SoundTimes } from '../../../../../runtime/conversation/hearing/sound-times.ts'

t.test('where speech began and ended is known by its sound, the rest by what was heard last', (t) => {
  const times = new SoundTimes()
  // Packets that waited came at once: by the clock of the worker the speech is shorter than it was.
  times.edge(1_000, 700)
  times.edge(1_500, 1_600)
  const last = { ms: 2_000, soundMs: 1_900 }
  t.equal(times.at(1_000, last), 700)
  t.equal(times.at(1_500, last), 1_600)
  t.equal(times.at(1_800, last), 1_700)
  t.equal(times.at(2_400, last), 1_900, 'nothing is told of sound that was not heard')
  t.end()
})
