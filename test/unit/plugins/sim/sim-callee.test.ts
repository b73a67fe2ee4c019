import t from 'tap'
import { SimCallee } from '../../../../plugins/sim/sim-callee.ts'
import { encodeG711 } from '../../../../runtime/media/codecs/g711.ts'

const FRAME_MS = 20
const LOUD = encodeG711(
  'pcmu',
  Int16Array.from({ length: 160 }, (_, i) => 8_000 * Math.sin(i / 3)),
)
/** Each line is as long as nothing else, so that what is heard says which one it was. */
const LINES = { hello: line(3), questions: [line(5), line(7)], goodbye: line(9) }

function line(frames: number): Uint8Array {
  return Buffer.concat(Array.from({ length: frames }, () => LOUD))
}

/** A callee who talks, on a line whose time is moved by hand. */
function makeCallee() {
  let nowMs = 1_000
  const said: number[] = []
  let running = 0
  let ended: string | undefined
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const callee = new SimCallee({ clock, manner: 'talks', lines: LINES, gone: () => undefined })
  const none = (): void => undefined
  callee.start({
    audio: (bytes) => {
      if (Buffer.compare(bytes, LOUD) === 0) running++
      else if (running > 0) {
        said.push(running)
        running = 0
      }
    },
    ...{ text: none, dtmf: none, played: none },
    ended: (reason) => {
      ended = reason
    },
  })
  const pass = (ms: number, each: () => void = none): void => {
    for (let passedMs = 0; passedMs < ms; passedMs += FRAME_MS) {
      each()
      nowMs += FRAME_MS
      callee.tick(nowMs)
    }
  }
  const agentSpeaks = (ms: number): void => pass(ms, () => callee.sendAudio(LOUD))
  return { callee, said, pass, agentSpeaks, ended: () => ended }
}

t.test('the callee speaks once the agent has marked the end of what it says', async (t) => {
  const { callee, said, pass, agentSpeaks } = makeCallee()
  agentSpeaks(1_000)
  callee.mark(1)
  pass(1_000)
  t.same(said, [5])
})

t.test(
  'a pause in the middle of a sentence is waited out, and a sentence that never ends is one at last',
  async (t) => {
    const { said, pass, agentSpeaks } = makeCallee()
    agentSpeaks(400)
    pass(2_000)
    agentSpeaks(400)
    t.same(said, [])
    pass(3_000)
    t.same(said, [5])
  },
)

t.test('an agent that was cut off has finished', async (t) => {
  const { callee, said, pass, agentSpeaks } = makeCallee()
  agentSpeaks(400)
  callee.clear()
  pass(1_000)
  t.same(said, [5])
})

t.test('hello is said to silence, and an unanswered question again, each once', async (t) => {
  const { callee, said, pass, agentSpeaks, ended } = makeCallee()
  pass(20_000)
  t.same(said, [3])
  agentSpeaks(200)
  callee.mark(1)
  pass(20_000)
  t.same(said, [3, 5, 5])
  agentSpeaks(200)
  callee.mark(2)
  pass(1_000)
  t.same(said, [3, 5, 5, 7])
  pass(50_000)
  t.same(said, [3, 5, 5, 7, 7])
  t.equal(ended(), 'caller_hangup')
})

t.test('the callee hangs up after goodbye, answered or not', async (t) => {
  const { callee, said, pass, agentSpeaks, ended } = makeCallee()
  for (const markId of [1, 2, 3]) {
    agentSpeaks(200)
    callee.mark(markId)
    pass(900)
  }
  pass(1_000)
  t.same(said, [5, 7, 9])
  t.equal(ended(), 'caller_hangup')
})
