import { spawn } from 'node:child_process'
import { tts } from '@livekit/agents'
import t from 'tap'
import plugin from '../../../../plugins/offline/mod.ts'
import { espeak } from '../../../../runtime/plugin-sdk/speech/espeak.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const make = async (voice = 'en-us', host = runOnlyHost('offline')) => {
  const made = await plugin.tts?.(host, { voice, settings: {} })
  if (!made) throw new Error('no tts')
  return made
}

const frames = async (stream: tts.SynthesizeStream) => {
  const found: tts.SynthesizedAudio[] = []
  for await (const item of stream) if (item !== tts.SynthesizeStream.END_OF_STREAM) found.push(item)
  return found
}

const secondsOf = (audio: readonly tts.SynthesizedAudio[]): number =>
  audio.reduce((sum, { frame }) => sum + frame.samplesPerChannel / frame.sampleRate, 0)

t.test(
  'text becomes audible speech at the declared rate, in frames of at most 100 ms, the last one final',
  async (t) => {
    const engine = await make()
    const stream = engine.stream()
    stream.pushText('Hello there. ')
    stream.pushText('We open at nine.')
    stream.endInput()
    const audio = await frames(stream)
    const seconds = secondsOf(audio)
    t.ok(seconds > 1.2 && seconds < 4, `${seconds} s`)
    t.ok(audio.every((item) => item.frame.sampleRate === engine.sampleRate && item.frame.samplesPerChannel <= 2205))
    t.ok(audio.some((item) => item.frame.data.some((sample) => Math.abs(sample) > 3000)))
    t.same(
      audio.map((item) => item.final),
      audio.map((_, i) => i === audio.length - 1),
    )
  },
)

t.test('the first sentence is spoken before the text is complete', async (t) => {
  const stream = (await make()).stream()
  stream.pushText('We open at nine. And')
  const first = await stream.next()
  t.not(first.done, true)
  stream.pushText(' we close at five.')
  stream.endInput()
  t.ok(secondsOf(await frames(stream)) > 1)
})

t.test('closing the stream ends the program', async (t) => {
  const started: ReturnType<typeof spawn>[] = []
  const host = runOnlyHost('offline', {
    run: {
      spawn: (program, args, options) => {
        const child = spawn(program, args, { ...options, stdio: 'pipe' })
        started.push(child)
        return child
      },
    },
  })
  const stream = (await make('en-us', host)).stream()
  stream.pushText(`${'And so on and so forth, for ever and ever, '.repeat(12)}. And`)
  await stream.next()
  stream.close()
  t.equal(started.length, 1)
  const child = started[0]
  if (child && child.exitCode === null && child.signalCode === null) {
    await new Promise((resolve) => child.once('exit', resolve))
  }
})

t.test('leaving the loop ends the program', async (t) => {
  let child: ReturnType<typeof spawn> | undefined
  const samples = espeak(
    (program, args, options) => {
      const started = spawn(program, args, { ...options, stdio: 'pipe' })
      child = started
      return started
    },
    'word '.repeat(2000),
    { voice: 'en-us' },
    new AbortController().signal,
  )
  for await (const _ of samples) break
  if (child?.exitCode === null && child.signalCode === null) await new Promise((r) => child?.once('exit', r))
  t.match(child?.signalCode, /^SIG(KILL|PIPE)$/, 'by our signal, or by the pipe that closed under it')
})

t.test('a voice that does not exist and a program that is missing are named', async (t) => {
  const signal = new AbortController().signal
  const say = async (program: string, voice: string) => {
    const start = (_: string, args: readonly string[], options?: { signal?: AbortSignal }) =>
      spawn(program, args, { ...options, stdio: 'pipe' })
    for await (const _ of espeak(start, 'Hello', { voice }, signal));
  }
  await t.rejects(say('espeak-ng', 'xx-nowhere'), /could not speak with voice "xx-nowhere"/)
  await t.rejects(say('espeak-ng', '../../etc/passwd'), /not the name of an espeak-ng voice/)
  await t.rejects(say('espeak-ng-that-is-not-there', 'en-us'), /was not found; install it/)
})

t.test('text that looks like phonemes or an option is spoken as text', async (t) => {
  const signal = new AbortController().signal
  let count = 0
  for await (const samples of espeak(
    (program, args, options) => spawn(program, args, { ...options, stdio: 'pipe' }),
    '--help [[h@loU]]\u0000',
    { voice: 'en-us' },
    signal,
  )) {
    count += samples.length
  }
  t.ok(count > 10_000)
})
