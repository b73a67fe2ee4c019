import t from 'tap'
import { SpeechEdges } from '../../../../../runtime/conversation/hearing/speech-edges.ts'

t.test('what a model hears late has the edges of its own sound', (t) => {
  const stretches = new SpeechEdges()
  t.equal(stretches.beginning(1_000), undefined, 'before anything was heard')
  stretches.loud(1_000, 1_020, 5_000)
  // The consonants of a word lie less than a tenth of a second apart.
  stretches.loud(1_080, 1_400, 60)
  stretches.loud(1_700, 1_900, 300)
  stretches.loud(2_600, 3_000, 700)
  t.equal(stretches.beginning(1_030), 1_000)
  t.equal(stretches.beginning(1_650), 1_700)
  t.equal(stretches.beginning(2_200), undefined, 'nothing begins there')
  t.equal(stretches.end(1_470), 1_400, 'though more was said since')
  t.equal(stretches.end(1_950), 1_900)
  t.equal(stretches.end(2_300), undefined, 'nothing ends there')
  t.equal(stretches.end(2_800), undefined, 'it goes on')
  t.end()
})
