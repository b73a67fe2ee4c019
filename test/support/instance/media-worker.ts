import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cacheFolder } from '../../../api/realtime/webrtc/worker-cache.ts'
import { findWorkerProgram } from '../../../api/realtime/webrtc/worker-program.ts'

const BUILD = new URL('../../../scripts/mediasoup-worker/build.ts', import.meta.url).pathname

/** Less than a test file may take. */
const BUILD_TIMEOUT_MS = 200_000

/**
 * The media worker of WebRTC on this machine, built once where a compiler is; or why tests of WebRTC can't run here. The build
 * takes minutes: `npm test` begins it before the tests.
 */
export async function mediaWorker(): Promise<{ path: string; skip: false } | { path: ''; skip: string }> {
  const search = { named: undefined, cache: cacheFolder(process.env), signal: new AbortController().signal }
  const faults: string[] = []
  const find = () => findWorkerProgram({ ...search, unfit: (path, why) => faults.push(`${path}: ${why}`) })
  let path = await find()
  if (path === undefined) {
    faults.push(await build())
    path = await find()
  }
  return path === undefined ? { path: '', skip: `needs a media worker: ${faults.join('; ')}` } : { path, skip: false }
}

/** The last thing it said. */
async function build(): Promise<string> {
  const child = spawn(process.execPath, [BUILD, '--jobs=2'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
    timeout: BUILD_TIMEOUT_MS,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-2_000)
  })
  await once(child, 'close')
  return said.trim().split('\n').at(-1) || 'it is still being built'
}
