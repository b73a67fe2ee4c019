import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { renderSpeech } from '../../../scripts/demo/speech.ts'
import { type Teardown, testFolder } from '../instance/services.ts'
import { hurry } from '../world/hurry.ts'

/**
 * A loudspeaker with a microphone beside it, by a PulseAudio of the test's own: what any program plays, the microphone hears. So a
 * browser's own cancelling of echoes is at work, as in a room.
 */

const RATE_HZ = 48_000
/** From the loudspeaker to the microphone. */
const LOSS = '-6dB'
/** Without it a sound may be seconds on its way. */
const LATENCY_MS = 50
const START_TIMEOUT_MS = 60_000

/** Why a test that needs it can't run here; false: it can. */
export const withoutSoundCard: string | false =
  spawnSync('sh', ['-c', 'command -v pulseaudio && command -v pacat']).status === 0
    ? false
    : 'needs PulseAudio: apt-get install pulseaudio'

export interface SoundCard {
  /** For programs that are to use it. */
  readonly env: Readonly<Record<string, string>>
  /** Somebody in the room says it; resolves when it is said. */
  speak(text: string): Promise<void>
}

export async function startSoundCard(t: Teardown): Promise<SoundCard> {
  const folder = await testFolder(t)
  const socket = join(folder, 'socket')
  // Browsers leave out what only listens in on a loudspeaker: a source of its own stands before it.
  const modules = [
    `module-native-protocol-unix socket=${socket} auth-anonymous=1`,
    `module-null-sink sink_name=loudspeaker rate=${RATE_HZ} channels=2`,
    'module-remap-source master=loudspeaker.monitor source_name=microphone channels=2',
  ]
  const args = [
    '-n',
    '--daemonize=no',
    '--exit-idle-time=-1',
    '--use-pid-file=no',
    '--disable-shm=yes',
    '--log-target=stderr',
  ]
  const { PATH = '' } = process.env
  const env = { PATH, HOME: folder, XDG_RUNTIME_DIR: folder }
  const child = spawn('pulseaudio', [...args, ...modules.flatMap((module) => ['-L', module])], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  })
  hurry(child.pid)
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const ofClients = {
    PULSE_SERVER: `unix:${socket}`,
    PULSE_SINK: 'loudspeaker',
    PULSE_SOURCE: 'microphone',
    PULSE_LATENCY_MSEC: String(LATENCY_MS),
  }
  await started(child, { ...env, ...ofClients })
  spawnSync('pactl', ['set-source-volume', 'microphone', LOSS], { env: { ...env, ...ofClients } })
  return {
    env: ofClients,
    async speak(text) {
      const samples = await renderSpeech(text, RATE_HZ)
      const player = spawn('pacat', ['--format=s16le', '--channels=1', `--rate=${RATE_HZ}`], {
        stdio: ['pipe', 'ignore', 'ignore'],
        env: { ...env, ...ofClients },
      })
      hurry(player.pid)
      player.stdin.end(new Uint8Array(samples.buffer))
      await once(player, 'close')
    },
  }
}

async function started(child: ChildProcess, env: Record<string, string>): Promise<void> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-4_000)
  })
  const endMs = performance.now() + START_TIMEOUT_MS
  while (performance.now() < endMs && child.exitCode === null) {
    if (spawnSync('pactl', ['info'], { env }).status === 0) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`PulseAudio did not start: ${said}`)
}
