import t from 'tap'
import { isEchoOf } from '../../../../../runtime/conversation/hearing/echo-words.ts'

const SAID = 'Hotel Aurora, good morning! How can I help you today? We have rooms free from Monday until Friday.'

t.test("the agent's own words are known again, misheard a little and cut anywhere", async (t) => {
  for (const heard of [
    'how can I help you today',
    'rooms free from monday until friday',
    'good morning how can I help him today',
    'we have free from Monday',
  ]) {
    t.equal(isEchoOf(heard, SAID), true, heard)
  }
})

t.test('what a caller says is none of them', async (t) => {
  for (const heard of [
    'Friday',
    'from Monday',
    'can you help me with my booking',
    'I would like a room on Monday',
    'do you have breakfast until ten',
  ]) {
    t.equal(isEchoOf(heard, SAID), false, heard)
  }
})
