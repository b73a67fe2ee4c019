/** The program that Deno runs for a plugin. */
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { runPlugin, stray } from './runner.ts'

declare const Deno: Record<string, unknown> & { exit(code: number): never }

// A grant for a name is one to connect to it; Deno's would let the plugin listen there, too.
const listen = (): never => {
  throw new Error('A plugin in a process of its own can’t listen; it may only connect')
}
for (const name of ['listen', 'listenTls', 'listenDatagram', 'serve', 'serveHttp']) Deno[name] = listen
for (const { Server } of [net, http, https]) Server.prototype.listen = listen

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
