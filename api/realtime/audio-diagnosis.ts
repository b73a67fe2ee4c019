import { type LoopScheduling, REALTIME_CURE } from '../../runtime/process/realtime.ts'

interface AudioFinding {
  ok: boolean
  text: string
}

/** Whether this node's audio waits for other work, and what to do about it, a sentence each: for `patchbay doctor audio`. */
export function diagnoseAudio(loop: LoopScheduling, audioFirst: string): AudioFinding[] {
  const others = 'Each process says how it stands in its metrics, by patchbay_loop_realtime'
  return [finding(loop, audioFirst), { ok: true, text: others }]
}

function finding({ scheduling, refused }: LoopScheduling, audioFirst: string): AudioFinding {
  if (scheduling === 'realtime') {
    return { ok: true, text: 'The loop that carries audio runs in real time (SCHED_RR): it waits for no other work' }
  }
  if (audioFirst !== 'true') {
    const text = `PATCHBAY_AUDIO_FIRST=${audioFirst} keeps audio out of real time: on a busy machine it waits for its turn`
    return { ok: true, text }
  }
  if (refused !== undefined) {
    return {
      ok: false,
      text: `Audio waits for its turn on a busy machine, since real time is refused (${refused}): ${REALTIME_CURE}`,
    }
  }
  const text =
    'The loop that carries audio does not run in real time: this node has just started, or another program changed its scheduling; ask again in a minute, then restart this node'
  return process.platform === 'linux' ? { ok: false, text } : { ok: true, text: 'Real time is for Linux alone' }
}
