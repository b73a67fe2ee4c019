/**
 * SIP calls with media: an api node with a worker that echoes, called by sipp, which sends and takes real RTP. Prints the
 * CPU that the api node uses a call, and how evenly its packets leave, measured at a socket of another process.
 *
 *     npm run bench -- telephony [calls] [seconds] [srtp]
 */
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pacing } from './telephony/probe.ts'

const NUMBER = '+14155550100'
const CALLS_A_SECOND = 10
const MAX_GAP_MS = 40
/** Of what all callers send: master key and salt. */
const KEY = Buffer.alloc(30, 'patchbay').toString('base64')
const CRYPTO = `crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${KEY}`

interface Ready {
  sipPort: number
}

export async function run(args: readonly string[]): Promise<void> {
  const srtp = args.includes('srtp')
  const [calls = 200, seconds = 60] = args.filter((arg) => arg !== 'srtp').map(Number)
  const node = fork(join(import.meta.dirname, 'telephony/node.ts'), [NUMBER, String(calls), srtp ? 'required' : 'off'])
  const probe = fork(join(import.meta.dirname, 'telephony/probe.ts'), srtp ? [KEY] : [])
  let sipp: ChildProcess | undefined
  try {
    const { sipPort } = await message<Ready>(node)
    const { port: mediaPort } = await message<{ port: number }>(probe)
    sipp = spawn(
      'sipp',
      [
        ...[`127.0.0.1:${sipPort}`, '-sf', join(import.meta.dirname, 'telephony/caller.xml'), '-s', NUMBER],
        ...['-i', '127.0.0.1', '-r', String(CALLS_A_SECOND), '-m', String(calls), '-l', String(calls), '-nostdin'],
        ...['-key', 'profile', srtp ? 'SAVP' : 'AVP', '-key', 'extra', srtp ? CRYPTO : 'sendrecv'],
        ...['-d', String((seconds + calls / CALLS_A_SECOND) * 1_000), '-key', 'probe', String(mediaPort)],
      ],
      { stdio: 'ignore' },
    )
    const ended = once(sipp, 'close') as Promise<[number | null]>
    // All calls are up.
    await sleep((calls / CALLS_A_SECOND) * 1_000 + 5_000)
    node.send('begin')
    probe.send('begin')
    await sleep((seconds - 10) * 1_000)
    probe.send('end')
    const pacing = await message<Pacing>(probe)
    node.send('end')
    const { cpuS, wallS, live } = await message<{ cpuS: number; wallS: number; live: number }>(node)
    const [code] = await ended
    const perCall = cpuS / wallS / Math.max(1, live)
    const figures = [
      { name: 'calls at once', ours: live, target: String(calls) },
      {
        name: 'calls per core: SIP and RTP of an api node, no worker',
        ours: Math.floor(1 / perCall),
        target: srtp ? '≥ 490' : '≥ 700',
      },
      { name: 'packets measured', ours: pacing.packets, target: '' },
      { name: 'gap between packets p50 ms', ours: pacing.p50Ms, target: '20' },
      { name: 'gap between packets p99 ms', ours: pacing.p99Ms, target: '≤ 30' },
      {
        name: `gaps over ${MAX_GAP_MS} ms, %`,
        ours: (100 * pacing.late) / Math.max(1, pacing.packets),
        target: '≤ 0.01',
      },
      { name: 'longest gap ms', ours: pacing.maxMs, target: '' },
      { name: 'sipp exit code', ours: code ?? -1, target: '0' },
    ]
    for (const { name, ours, target } of figures) {
      process.stdout.write(`${JSON.stringify({ name, ours, peer: null, ratio: null, target, runs: 1 })}\n`)
    }
  } finally {
    sipp?.kill('SIGKILL')
    node.kill('SIGTERM')
    probe.kill('SIGKILL')
  }
}

async function message<T>(child: ChildProcess): Promise<T> {
  const [received] = (await once(child, 'message')) as [T]
  return received
}
