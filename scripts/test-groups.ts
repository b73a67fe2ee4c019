import { readFileSync } from 'node:fs'

/** What reaches beyond the file: the process's handlers, priority, guard, memory or clock. */
const OF_THE_PROCESS =
  /process\.(on|once|chdir|exit|kill|memoryUsage|cpuUsage|resourceUsage)\b|[gs]etPriority|installGuard|worker_threads|node:test|globalThis|eventLoopDelay|Refusals|provider-health|\b(global)?gc\(/

/** What waits most of its time for whole instances or for peers of its own: each is under way by itself, beside others. */
const OF_PROCESSES =
  /support\/(instance\/(instance|sip-instance|webrtc-instance)|phone\/phone-process|sip\/sip-peers)\.ts/

/** What plays and hears in real time: a machine that is busy with others makes other sounds of it. Other files say it of themselves. */
const OF_REAL_TIME = /support\/(phone\/sound-card|browser\/page-call)\.ts|^\/\*\* Runs alone: /m

const OF_PRIORITY = /[gs]etPriority|low-priority/

const MOST_FILES = 8

/**
 * Which test files share a process, because loading the modules costs most tests more than they compute: those of a room
 * (`test/api`) that touch nothing of the process, neighbours first. `read` gives a file's source.
 */
export function testGroups(files: readonly string[], read: (file: string) => string = readSource): string[][] {
  const groups: string[][] = []
  const open = new Map<string, string[]>()
  for (const file of files) {
    const source = read(file)
    if (OF_THE_PROCESS.test(source) || OF_PROCESSES.test(source) || OF_REAL_TIME.test(source)) {
      groups.push([file])
      continue
    }
    const room = roomOf(file)
    const group = open.get(room)
    if (group === undefined || group.length >= MOST_FILES) {
      const fresh = [file]
      open.set(room, fresh)
      groups.push(fresh)
    } else {
      group.push(file)
    }
  }
  return groups
}

/** The room of the source that a test file is of: `test/api`. */
export function roomOf(file: string): string {
  return file.split('/').slice(0, 3).join('/')
}

/** Whether a test file looks at priorities, and so is to have everybody's. */
export function needsPriority(file: string, read: (file: string) => string = readSource): boolean {
  return OF_PRIORITY.test(read(file))
}

/** Whether a test file is to run beside none of its kind, and before all others. */
export function needsMachine(file: string, read: (file: string) => string = readSource): boolean {
  return OF_REAL_TIME.test(read(file))
}

function readSource(file: string): string {
  return readFileSync(file, 'utf8')
}
