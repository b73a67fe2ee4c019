import { spawn } from 'node:child_process'
import { initializeLogger } from '@livekit/agents'
import pino from 'pino'
import type { PluginHost } from '../../../runtime/plugin/contract.ts'

/** A host that lets a plugin start programs and nothing else: what plugins/offline and plugins/sim need. */
export function runOnlyHost(plugin: string, overrides: Partial<PluginHost> = {}): PluginHost {
  initializeLogger({ pretty: false, level: 'silent' })
  const refuse = () => {
    throw new Error(`plugin "${plugin}" reached for a handle it has no grant for`)
  }
  return {
    plugin,
    env: { get: refuse },
    net: { fetch: refuse, connect: refuse, udp: refuse, listen: refuse, resolve: refuse, srv: refuse },
    run: { spawn: (program, args, options) => spawn(program, args, { ...options, stdio: 'pipe' }) },
    read: { bytes: refuse },
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    ...overrides,
  }
}
