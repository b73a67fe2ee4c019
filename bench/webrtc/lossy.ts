import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import utterances from '../../plugins/sim/utterances/en.json' with { type: 'json' }
import { OpusEncoder } from '../../runtime/media/codecs/opus.ts'
import { OPUS_RATE_HZ } from '../../runtime/media/codecs/opus-repair.ts'
import { joinSamples } from '../../runtime/media/frame.ts'
import { meanOpinionScore } from '../../runtime/media/line/mean-opinion-score.ts'
import { renderSpeech } from '../../scripts/demo/speech.ts'
import { quantile } from '../support/quantile.ts'
import { BadLine, type BadLineOptions } from './bad-line.ts'
import { Caller } from './caller.ts'
import type { Understood } from './ears.ts'

const SETUPS = 20
/** Who has heard nothing by then hangs up. */
const GIVE_UP_MS = 15_000
const TALKERS = 6
const SENTENCES = 12
const PAUSE_MS = 1_000
const FRAME = OPUS_RATE_HZ / 50
const AGED_MS = 5_000
/** From a browser's jitter buffer to the ear. */
const PLAYOUT_MS = 60

export interface LineFigures {
  firstWordP50Ms: number
  firstWordP95Ms: number
  ageP50Ms: number
  ageP99Ms: number
  /** Shares, 0 to 1. */
  back: number
  lost: number
  lostAlone: number
  longestRun: number
  understood: number
  lateMs: number
  mos: number
}

/** Calls over such a line: how soon they begin, how old packets are, what is lost and what is understood all the same. */
export async function measureLine(node: ChildProcess, port: number, options: BadLineOptions): Promise<LineFigures> {
  const line = new BadLine(options)
  const streams = await line.streamsTo(port)
  const caller = (query = '') => new Caller({ port: streams, media: 'webrtc', line, query })
  try {
    const setups: number[] = []
    for (let i = 0; i < SETUPS; i++) {
      const one = caller()
      setups.push(await Promise.race([one.setupMs, sleep(GIVE_UP_MS, GIVE_UP_MS)]))
      one.close()
    }
    const echoed = caller()
    await echoed.setupMs
    echoed.speak()
    await sleep(AGED_MS)
    const { agesMs: ages, spoken } = echoed
    echoed.close()
    const [before, runsBefore] = [line.packets, new Map(line.runs)]
    const said = await Promise.all(Array.from({ length: TALKERS }, (_, n) => talk(node, caller, n)))
    const runs = [...line.runs].map(([length, times]) => ({ length, times: times - (runsBefore.get(length) ?? 0) }))
    const lostPackets = runs.reduce((sum, { length, times }) => sum + length * times, 0)
    const lost = lostPackets / (line.packets - before)
    const words = (texts: readonly string[]) => texts.join(' ').split(' ').length
    const right = said.map(({ sentences, heard }) => sentences.filter((text) => heard.texts.includes(text)))
    return {
      firstWordP50Ms: quantile(setups, 0.5),
      firstWordP95Ms: quantile(setups, 0.95),
      ageP50Ms: quantile(ages, 0.5),
      ageP99Ms: quantile(ages, 0.99),
      back: ages.length / spoken,
      lost,
      lostAlone: lostPackets === 0 ? 0 : runs.reduce((sum, { times }) => sum + times, 0) / lostPackets,
      longestRun: Math.max(0, ...runs.filter(({ times }) => times > 0).map(({ length }) => length)),
      understood: words(right.flat()) / words(said.flatMap(({ sentences }) => sentences)),
      lateMs: said.reduce((sum, { heard }) => sum + heard.lateMs, 0),
      mos: meanOpinionScore(lost, quantile(ages, 0.5) / 2 + PLAYOUT_MS),
    }
  } finally {
    line.close()
  }
}

interface Talked {
  sentences: readonly string[]
  heard: Understood
}

/** Says sentences, each talker others, and learns from the node what was understood. */
async function talk(node: ChildProcess, caller: (query: string) => Caller, n: number): Promise<Talked> {
  const sentences = Array.from({ length: SENTENCES }, (_, i) => utterances[(n * SENTENCES + i) % utterances.length]!)
  const silence = new Int16Array((OPUS_RATE_HZ * PAUSE_MS) / 1000)
  const spoken = await Promise.all(sentences.map((text) => renderSpeech(text, OPUS_RATE_HZ)))
  const samples = joinSamples([silence, ...spoken.flatMap((one) => [one, silence])])
  const encoder = new OpusEncoder(OPUS_RATE_HZ)
  const packets = Array.from({ length: Math.floor(samples.length / FRAME) }, (_, i) =>
    encoder.encode(samples.slice(i * FRAME, (i + 1) * FRAME)),
  )
  const told = new Promise<Understood>((resolve) => {
    const take = (message: { talker?: string; heard?: Understood }): void => {
      if (message.talker !== String(n) || message.heard === undefined) return
      node.off('message', take)
      resolve(message.heard)
    }
    node.on('message', take)
  })
  const one = caller(`&talker=${n}`)
  await one.setupMs
  await one.say(packets)
  await sleep(PAUSE_MS)
  one.close()
  return { sentences, heard: await told }
}
