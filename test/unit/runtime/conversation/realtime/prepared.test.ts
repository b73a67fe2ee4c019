import { test } from 'tap'
import { joinSamples } from '../../../../../runtime/media/frame.ts'
import { RATE_HZ } from '../support/harness.ts'
import { speech } from '../support/speech.ts'
import { realtimeCall, WHERE_ANSWER } from './setup.ts'
import { realtimeWorld, WHERE } from './support.ts'

const BEGINNING = 'I would like to know'
const PAUSE_MS = 450
/** A caller who thinks in the middle of a question: their words are known by then, and their turn is not over. */
const PAUSE = new Int16Array((RATE_HZ * PAUSE_MS) / 1000)
const HESITATING = joinSamples([speech(BEGINNING, RATE_HZ), PAUSE, speech(WHERE, RATE_HZ)])

for (const voice of ['model', 'own']) {
  const what = voice === 'model' ? 'speaks is asked once the turn is over' : 'writes prepares its answer'
  test(`a caller who hesitates: a model that ${what}`, async (t) => {
    const utterances = [BEGINNING, WHERE]
    const world = await realtimeWorld(t, { utterances })
    const { port, say } = await realtimeCall(t, world, { own: { realtimeVoice: voice }, utterances })
    await say(HESITATING)
    await port.until('the answer', () => port.said.at(-1) === WHERE_ANSWER)
    const asked = world.told.filter(({ type }) => type === 'response.create').length
    if (voice === 'model') t.equal(asked, 1, port.said.join(' '))
    else t.ok(asked > 1, `asked ${asked} times`)
    t.strictSame(world.refused, [])
    t.strictSame(port.faults, [])
  })
}
