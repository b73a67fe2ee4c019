import t from 'tap'
import { judgeOpening, openingLine, RATE_HZ } from '../../../../support/world/judge-opening.ts'
import { OPENINGS } from '../../../../support/world/openings.ts'
import { speech } from '../../conversation/support/speech.ts'

/** Every opening of the labelled set as a telephone brings it, in two voices. */

/** A man's voice and a woman's. */
const VARIANTS = ['', '+f3']
const VOICES = { en: 'en-us', de: 'de', es: 'es', fr: 'fr', it: 'it' }

t.test('the labelled set: no human is a machine, voicemail is found, and soon', async (t) => {
  const delays: number[] = []
  const found = { right: 0, all: 0 }
  const humans = { machine: 0, human: 0, all: 0 }
  for (const opening of OPENINGS) {
    for (const variant of VARIANTS) {
      const voice = `${VOICES[opening.language]}${variant}`
      const line = await openingLine(opening.pieces, (words) => ({ samples: speech(words, RATE_HZ, voice), words }))
      const { verdict, afterMs } = judgeOpening(line)
      const said = opening.pieces.map((piece) => (typeof piece === 'object' ? piece.tone : piece))
      const name = `${opening.language}${variant}: ${said.join(' … ')}`
      if (opening.is === 'human') {
        humans.all++
        if (verdict === 'human') humans.human++
        if (verdict === 'machine' || verdict === 'mailbox_full' || verdict === 'fax') humans.machine++
        if (verdict !== 'human') t.comment(`${verdict}: ${name}`)
      } else {
        if (opening.is === 'machine') {
          found.all++
          if (verdict === 'machine') found.right++
        }
        if (verdict !== opening.is) t.comment(`${verdict}, not ${opening.is}: ${name}`)
        if (opening.is !== 'machine') t.equal(verdict, opening.is, name)
      }
      delays.push(afterMs)
    }
  }
  delays.sort((a, b) => a - b)
  const medianMs = delays[delays.length >> 1]!
  t.comment(JSON.stringify({ humans, found, medianMs }))
  t.ok(humans.machine / humans.all <= 0.005, `${humans.machine} of ${humans.all} people are taken for a machine`)
  t.ok(humans.human / humans.all >= 0.95, `${humans.human} of ${humans.all} people are known as such`)
  t.ok(found.right / found.all >= 0.95, `${found.right} of ${found.all} voicemails are found`)
  t.ok(medianMs <= 2_500, `the median verdict comes after ${medianMs} ms of sound`)
})
