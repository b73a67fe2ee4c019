import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'

/** The process of this machine that is the voice worker of this name; undefined: none is. */
export async function voiceProcess(worker: string): Promise<number | undefined> {
  const lines = process.platform === 'linux' ? await linuxProcesses() : await listedProcesses()
  return lines.find(({ command }) => command.split(/[ \0]/).includes(worker))?.pid
}

async function linuxProcesses() {
  const pids = (await readdir('/proc')).map(Number).filter(Number.isInteger)
  return Promise.all(
    pids.map(async (pid) => ({ pid, command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') })),
  )
}

async function listedProcesses() {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,command='])
  return stdout.split('\n').map((line) => ({ pid: Number.parseInt(line, 10), command: line }))
}
