/** An api node's half of the calls: SIP, RTP and legs, each joined to an echo in place of a worker. */
import { pino } from 'pino'
import type { Leg } from '../../runtime/call/types/leg.ts'
import { NO_DIAL_RULES } from '../../runtime/dialing/dial-policy.ts'
import { systemClock } from '../../runtime/lib/clock.ts'
import { Pacer } from '../../runtime/media/line/pacer.ts'
import { installGuard } from '../../runtime/plugin/guard/guard.ts'
import { loadPlugins } from '../../runtime/plugin/host.ts'
import { LOCAL_TRUNK_ID, type TrunkDirectory } from '../../runtime/plugin-sdk/telephony/trunk.ts'
import { DEFAULT_TRUNK_SETTINGS } from '../../runtime/plugin-sdk/telephony/trunk-settings.ts'

const [number = '', calls = '200', encryption = 'off'] = process.argv.slice(2)
const sipPort = 20_000 + (process.pid % 5_000)
const env = {
  PATCHBAY_SIP_PORT: String(sipPort),
  PATCHBAY_SIP_HOST: '127.0.0.1',
  PATCHBAY_RTP_PORTS: `30000-${30_000 + 2 * Number(calls) + 99}`,
}
const trunks: TrunkDirectory = {
  watch: () => () => undefined,
  list: async () => [
    {
      ...{ id: LOCAL_TRUNK_ID, workspaceId: '', name: LOCAL_TRUNK_ID, host: '', transport: 'udp', register: false },
      ...{
        tlsCa: undefined,
        username: undefined,
        password: undefined,
        allowedAddresses: ['127.0.0.1'],
        internalAddresses: ['127.0.0.1'],
        codecs: ['PCMU'] as const,
      },
      ...{
        maxConcurrentCalls: 10_000,
        maxCallsPerSecond: 1_000,
        countries: [],
        settings: {
          ...DEFAULT_TRUNK_SETTINGS,
          media_encryption: encryption === 'required' ? 'required' : 'off',
        } as const,
        tlsKey: undefined,
      },
    },
  ],
}
const { signal } = new AbortController()
const plugins = await loadPlugins({ config: {}, env, log: pino({ level: 'warn' }), signal })
// As an api node has it: every datagram passes it.
installGuard({
  ...{ grants: () => plugins.ambientGrants(['telephony']), pluginFolders: plugins.plugins.map(({ dir }) => dir) },
  ...{ hide: [], env, log: pino({ level: 'warn' }) },
})
const carrier = await plugins.create('telephony', 'sip', { trunks })
const pacer = new Pacer(systemClock, (error) => console.error(error))
const legs = new Set<Leg>()
const speech = new Uint8Array(160).fill(0x55)
pacer.add((frames) => {
  for (const leg of legs) for (let i = 0; i < frames; i++) leg.sendAudio(speech)
})
let calling = 0

await carrier.receive?.(async (call) => {
  if (call.to !== number) {
    call.reject('unknown_number')
    return
  }
  const leg = await call.accept({ callId: String(++calling), trunk: LOCAL_TRUNK_ID, rules: NO_DIAL_RULES })
  if (leg === undefined) return
  leg.start({
    audio: () => undefined,
    text: () => undefined,
    dtmf: () => undefined,
    played: () => undefined,
    ended: () => void legs.delete(leg),
  })
  leg.answer()
  legs.add(leg)
}, signal)
process.send?.({ sipPort })

let from = { cpu: process.cpuUsage(), ms: performance.now() }
process.on('message', (word) => {
  if (word === 'begin') from = { cpu: process.cpuUsage(), ms: performance.now() }
  if (word !== 'end') return
  const { user, system } = process.cpuUsage(from.cpu)
  process.send?.({ cpuS: (user + system) / 1e6, wallS: (performance.now() - from.ms) / 1e3, live: legs.size })
})
process.on('SIGTERM', () => process.exit(0))
