import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** What reaches beyond the file: the process's environment, handlers, children, threads, guard, memory or clock. */
const OF_THE_PROCESS =
  /process\.(env|on|once|chdir|exit|kill|memoryUsage|cpuUsage)|installGuard|child_process|worker_threads|support\/(instance|realtime-node|phone-process|sip-peers|jobs)|conformance|node:test|globalThis|eventLoopDelay|Refusals|provider-health|\b(global)?gc\(/

/** What plays and hears in real time: a machine that is busy with others makes other sounds of it. Other files say it of themselves. */
const OF_REAL_TIME = /support\/(sound-card|page-call)\.ts|^\/\*\* Runs alone: /m

const MOST_FILES = 6

/**
 * Which test files share a process, because loading the modules costs most tests more than they compute: neighbours in
 * a folder that touch nothing of the process. `read` gives a file's source.
 */
export function testGroups(files: readonly string[], read: (file: string) => string = readSource): string[][] {
  const groups: string[][] = []
  const open = new Map<string, string[]>()
  for (const file of files) {
    if (OF_THE_PROCESS.test(read(file)) || needsMachine(file, read)) {
      groups.push([file])
      continue
    }
    const folder = dirname(file)
    const group = open.get(folder)
    if (group === undefined || group.length >= MOST_FILES) {
      const fresh = [file]
      open.set(folder, fresh)
      groups.push(fresh)
    } else {
      group.push(file)
    }
  }
  return groups
}

/** Whether a test file needs the machine for itself. */
export function needsMachine(file: string, read: (file: string) => string = readSource): boolean {
  return OF_REAL_TIME.test(read(file))
}

function readSource(file: string): string {
  return readFileSync(file, 'utf8')
}
