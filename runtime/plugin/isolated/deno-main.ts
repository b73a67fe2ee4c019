/** The program that Deno runs for a plugin: its pipe is standard input and output. */
import { run } from './runner.ts'

declare const Deno: {
  stdin: { readable: ReadableStream<Uint8Array> }
  stdout: { write(bytes: Uint8Array): Promise<number> }
  exit(code: number): never
}

await run({ read: Deno.stdin.readable, write: (bytes) => Deno.stdout.write(bytes) })
Deno.exit(0)
