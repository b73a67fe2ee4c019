import { test } from 'tap'
import { Transcript } from '../../../runtime/conversation/transcript.ts'
import { RecordingPort } from './support/harness.ts'

const heard = (text: string) => ({ text, playedMs: 500, startMs: 1000, endMs: 1500 })

test('a turn that cuts the agent off is reported after what was heard of the agent', (t) => {
  const port = new RecordingPort()
  const transcript = new Transcript(port, (ms) => ms - 1000)
  transcript.agentStarted()
  transcript.agentProgress(heard('We are'))
  transcript.user('Stop', 1400, 1600)
  t.strictSame(port.said, [])
  transcript.agentDone(heard('We are open'), true)
  t.strictSame(port.said, ['assistant: We are open!', 'user: Stop'])
  t.equal(port.turns[0]!.turn.startMs, 0)
  t.end()
})

test('an agent of whom nothing was heard leaves no turn', (t) => {
  const port = new RecordingPort()
  const transcript = new Transcript(port, (ms) => ms)
  transcript.agentStarted()
  transcript.agentDone(heard(''), true)
  transcript.user('Hello', 0, 1)
  t.strictSame(port.said, ['user: Hello'])
  t.end()
})
