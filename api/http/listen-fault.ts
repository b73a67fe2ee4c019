import { createServer } from 'node:net'
import { PatchbayError } from '../../runtime/lib/errors.ts'

/** Why this process can't listen there, with the cure: `configuration`. */
export async function listenFault(host: string, port: number): Promise<PatchbayError> {
  const code = await codeOf(host, port)
  const cure: Record<string, string> = {
    EADDRINUSE: `Port ${port} is in use; set PORT to a free one or stop the program that listens on it.`,
    EACCES: `Port ${port} needs more rights than this user has; set PORT to one above 1023.`,
    EADDRNOTAVAIL: `"${host}" is no address of this machine; set PATCHBAY_HOST to one of its own or to 0.0.0.0.`,
  }
  const reason = cure[code] ?? `Can't listen on ${host}:${port} (${code}); set PORT and PATCHBAY_HOST.`
  return new PatchbayError('configuration', { params: { reason } })
}

/** The HTTP library doesn't say why it can't listen; the system's own answer to the same attempt does. */
function codeOf(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    probe.listen(port, host, () => {
      probe.close(() => resolve('EADDRINUSE'))
    })
  })
}
