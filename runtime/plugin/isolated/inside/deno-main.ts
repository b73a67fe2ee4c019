/** The program that Deno runs for a plugin. */
import { runPlugin, stray } from './runner.ts'

declare const Deno: { exit(code: number): never }

const everything = globalThis as unknown as EventTarget
everything.addEventListener('error', (event) => {
  event.preventDefault()
  stray((event as Event & { error?: unknown }).error)
})
everything.addEventListener('unhandledrejection', (event) => {
  event.preventDefault()
  stray((event as Event & { reason?: unknown }).reason)
})

await runPlugin()
Deno.exit(0)
