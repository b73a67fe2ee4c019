import { fork } from 'node:child_process'
import { once } from 'node:events'

/** Runs a file in a Node process of its own, which sends its result and ends. Rejects where it ends without one. */
export async function runSubject<T>(
  file: string,
  args: readonly string[],
  execArgv: readonly string[] = [],
): Promise<T> {
  const child = fork(file, args, { execArgv: [...execArgv], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const exited = once(child, 'exit').then(([code]) => {
    throw new Error(`${file} ${args.join(' ')} ended with code ${code}`)
  })
  exited.catch(() => {})
  const [result] = (await Promise.race([once(child, 'message'), exited])) as [T]
  child.kill()
  return result
}
