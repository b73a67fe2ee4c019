import { BeepDetector } from '../../media/tones/beep.ts'
import { FaxDetector } from '../../media/tones/fax.ts'
import { ToneTracker } from '../../media/tones/tone.ts'
import { MODEL_RATE_HZ } from '../providers/models.ts'
import type { InboundAudio } from './inbound-audio.ts'

/** Listens for the tones of answering machines and faxes. Returns what ends it. */
export function listenForTones(inbound: InboundAudio, heard: (type: 'beep' | 'fax', atMs: number) => void): () => void {
  const tones = new ToneTracker(MODEL_RATE_HZ)
  const beeps = new BeepDetector()
  const faxes = new FaxDetector()
  return inbound.listen((samples, endMs) => {
    let isFax = false
    for (const tone of tones.push(samples)) {
      isFax ||= faxes.push(tone)
      if (beeps.push(tone)) heard('beep', inbound.arrivedMs(endMs))
    }
    if (isFax || faxes.hears(tones.sounding)) heard('fax', inbound.arrivedMs(endMs))
  })
}
