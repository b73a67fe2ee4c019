/** The program that Deno runs for a plugin: its pipe is standard input and output. */
import { run } from './runner.ts'

declare const Deno: {
  stdin: { readable: ReadableStream<Uint8Array> }
  stdout: { writeSync(bytes: Uint8Array): number }
  exit(code: number): never
}

// At once: the role reads as it comes, and a write that waits for a thread of its own waits longer.
await run({ read: Deno.stdin.readable, write: async (bytes) => Deno.stdout.writeSync(bytes) })
Deno.exit(0)
