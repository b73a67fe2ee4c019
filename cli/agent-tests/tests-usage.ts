import type { TestChannel } from '../../runtime/agent-tests/schema.ts'

/** What is known of `patchbay test` before its code is loaded. */

export const TESTS_USAGE = `Usage: patchbay test [path…] [--agent=NAME[@draft|@live|@NUMBER]] [--times=N]
                     [--audio | --sip] [--junit=FILE] [--html=FILE] [--watch]
       patchbay test --of-call=ID [--audio]
       patchbay test --schema

  Runs the tests in the files (default: the folder tests) on a running Patchbay, which
  PATCHBAY_URL (default http://localhost:8080) and PATCHBAY_API_KEY name. No tool is called.
  Exit code 0: all passed; 1: something failed or could not be judged; 2: something could not be run.

  --agent    which agent, by name or id; needed where there are several. Default version: draft
  --times    how often each test runs
  --audio    runs them in sound and real time; --sip: by SIP calls over loopback
  --junit    writes the run for CI systems; --html: as a page
  --watch    runs again when a file changes
  --of-call  prints a test of a call that is over, its personal data replaced; with --audio the caller
             is heard as in its recording, and the data stay
  --schema   prints the JSON Schema of a test, for editors
`

export interface TestOptions {
  paths: string[]
  agent?: string
  version: string
  times?: number
  channel?: TestChannel
  ofCall?: string
  junit?: string
  html?: string
  watch: boolean
  schema: boolean
}

const WITH_VALUE = ['agent', 'times', 'junit', 'html', 'of-call'] as const
const SWITCHES = ['watch', 'schema'] as const
const CHANNELS = ['audio', 'sip'] as const

/** Reads the words after `patchbay test`; both `--times=5` and `--times 5` are taken. */
export function testOptions(argv: readonly string[]): TestOptions | { fault: string } {
  const options: TestOptions = { paths: [], version: 'draft', watch: false, schema: false }
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (!word.startsWith('-')) {
      options.paths.push(word)
      continue
    }
    const [, name = '', inline] = /^--([a-z-]+)(?:=(.*))?$/s.exec(word) ?? []
    const flag = SWITCHES.find((one) => one === name)
    if (flag !== undefined && inline === undefined) {
      options[flag] = true
      continue
    }
    const channel = CHANNELS.find((one) => one === name)
    if (channel !== undefined && inline === undefined) {
      options.channel = channel
      continue
    }
    const valued = WITH_VALUE.find((one) => one === name)
    const value = inline ?? argv[++i]
    if (valued === undefined || value === undefined || value === '') {
      return { fault: `"${word}" is no option of patchbay test\n${TESTS_USAGE}` }
    }
    if (valued === 'times') {
      const times = Number(value)
      if (!Number.isInteger(times) || times < 1 || times > 100) return { fault: '--times is a number from 1 to 100' }
      options.times = times
    } else if (valued === 'of-call') options.ofCall = value
    else if (valued === 'agent') {
      const [, agent = value, version] = /^(.+)@(live|draft|[1-9]\d*)$/.exec(value) ?? []
      options.agent = agent
      if (version !== undefined) options.version = version
    } else options[valued] = value
  }
  return options
}
