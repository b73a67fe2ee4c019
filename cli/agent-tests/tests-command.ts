import { watch } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { boundary } from '../../runtime/lib/async/boundary.ts'
import { InstanceClient, LOCAL_URL } from '../instance/instance-client.ts'
import { namedAgent } from '../instance/named-agent.ts'
import { casesOfRun } from './cases-of-run.ts'
import { htmlReport } from './html-report.ts'
import { junitXml } from './junit.ts'
import { exitCodeOf, type ReportedRun, runText } from './run-report.ts'
import { readTestFiles, type TestFile } from './test-files.ts'
import { type TestOptions, testOptions } from './tests-usage.ts'

const LOOK_EVERY_MS = 300
const SETTLES_MS = 300

interface TestsCommand {
  argv: readonly string[]
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  say(line: string): void
  signal: AbortSignal
}

/** `patchbay test`: runs the tests of files on a running Patchbay. Resolves with the text to print and the exit code. */
export async function runTestsCommand(command: TestsCommand): Promise<{ text: string; code: 0 | 1 | 2 }> {
  const { argv, cwd, env, say, signal } = command
  const options = testOptions(argv)
  if ('fault' in options) return { text: options.fault, code: 2 }
  if (options.schema) return { text: JSON.stringify(AgentTest, undefined, 2), code: 0 }
  if (options.ofCall !== undefined) return testOfCall(env, options.ofCall, options.channel)
  const paths = options.paths.length === 0 ? ['tests'] : options.paths
  const once = () => runOnce(env, options, paths, cwd, say)
  let last = await once()
  if (!options.watch) return last
  for (;;) {
    say(last.text)
    say('Waiting for a change (Ctrl-C ends)')
    if (!(await changeOf(paths, cwd, signal))) return { ...last, text: '' }
    last = await once()
  }
}

/** The test of a call as a file. */
async function testOfCall(
  env: TestsCommand['env'],
  callId: string,
  channel: TestOptions['channel'],
): Promise<{ text: string; code: 0 | 2 }> {
  if (channel === 'sip') return { text: '--of-call goes with --audio, not with --sip', code: 2 }
  try {
    const client = clientOf(env)
    const asked = channel === 'audio' ? { audio: 'call', personal_data: 'keep' } : {}
    const { body } = await client.post(`/calls/${encodeURIComponent(callId)}/to-test`, asked)
    return { text: (body as { yaml: string }).yaml.trimEnd(), code: 0 }
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), code: 2 }
  }
}

const clientOf = (env: TestsCommand['env']): InstanceClient =>
  new InstanceClient(env.PATCHBAY_URL || LOCAL_URL, env.PATCHBAY_API_KEY, 'read and calls')

async function runOnce(
  env: TestsCommand['env'],
  options: TestOptions,
  paths: readonly string[],
  cwd: string,
  say: (line: string) => void,
): Promise<{ text: string; code: 0 | 1 | 2 }> {
  const { tests, faults } = await readTestFiles(paths, cwd)
  if (faults.length > 0) return { text: faults.join('\n'), code: 2 }
  if (tests.length === 0) return { text: `There is no test in ${paths.join(', ')}`, code: 2 }
  try {
    const client = clientOf(env)
    const run = await runThere(client, options, tests, say)
    const cases = await casesOfRun(client, run.run_id)
    if (options.junit !== undefined) await writeFile(resolve(cwd, options.junit), junitXml(run, cases))
    if (options.html !== undefined) await writeFile(resolve(cwd, options.html), htmlReport(run, cases))
    return { text: runText(run, cases), code: exitCodeOf(run) }
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), code: 2 }
  }
}

async function runThere(
  client: InstanceClient,
  options: TestOptions,
  tests: readonly TestFile[],
  say: (line: string) => void,
): Promise<ReportedRun> {
  const { agent_id } = await namedAgent(client, options.agent)
  const definitions = tests.map(({ test }) => test)
  const { body: begun } = await client.post('/tests/runs', {
    ...{ agent_id, version: options.version, tests: definitions },
    ...(options.times === undefined ? {} : { times: options.times }),
    ...(options.channel === undefined ? {} : { channel: options.channel }),
  })
  const { run_id, total } = begun as ReportedRun
  let told = -1
  for (;;) {
    const run = (await client.get(`/tests/runs/${run_id}`)).body as ReportedRun
    const done = run.passed + run.failed + run.unsure + run.errors
    if (run.status !== 'running') return run
    if (done !== told) say(`${done} of ${total}`)
    told = done
    await sleep(LOOK_EVERY_MS)
  }
}

/** Waits until something in the paths changes, and for the quiet after it; false: it was told to stop. */
function changeOf(paths: readonly string[], cwd: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((answer) => {
    const stop = new AbortController()
    const end = (changed: boolean): void => {
      stop.abort()
      signal.removeEventListener('abort', stopped)
      answer(changed)
    }
    const stopped = boundary('process', (): void => end(false))
    const settled = boundary('process', (): void => end(true))
    let quiet: NodeJS.Timeout | undefined
    signal.addEventListener('abort', stopped)
    if (signal.aborted) return end(false)
    for (const path of paths) {
      watch(resolve(cwd, path), { recursive: true, signal: stop.signal }, () => {
        clearTimeout(quiet)
        quiet = setTimeout(settled, SETTLES_MS)
      })
    }
  })
}
