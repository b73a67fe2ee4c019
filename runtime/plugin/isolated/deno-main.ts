/** The program that Deno runs for a plugin: its pipe is standard input and output. */
import { Socket } from 'node:net'
import { run } from './runner.ts'

declare const Deno: {
  stdout: { writeSync(bytes: Uint8Array): number }
  exit(code: number): never
}

/**
 * Both at once, without a thread of its own between the pipe and the plugin, as Deno's standard input has: on a busy machine
 * each thread waits for its turn.
 */
await run({ read: new Socket({ fd: 0 }), write: async (bytes) => Deno.stdout.writeSync(bytes) })
Deno.exit(0)
