import t from 'tap'
import { realtimeUrl } from '../../../../api/realtime/realtime-url.ts'

const given = { publicUrl: 'https://voice.example.org', publicUrlGiven: true }
const unset = { publicUrl: 'http://localhost:8080', publicUrlGiven: false }
const headers = (values: Record<string, string>) => (name: string) => values[name] ?? ''

t.test('the address the operator named goes before the one the client used', async (t) => {
  t.equal(realtimeUrl(given, headers({ host: '10.0.0.5:8080' }), 'T'), 'wss://voice.example.org/realtime?token=T')
})

t.test('otherwise a client is led back to where it came in', async (t) => {
  t.equal(realtimeUrl(unset, headers({ host: '192.168.1.20:8080' }), 'T'), 'ws://192.168.1.20:8080/realtime?token=T')
  t.equal(realtimeUrl(unset, headers({ host: 'a.example' }), 'T', '/listen'), 'ws://a.example/listen?token=T')
  t.equal(realtimeUrl(unset, headers({ host: '[::1]:8080' }), 'T'), 'ws://[::1]:8080/realtime?token=T')
  const proxied = { host: 'api:8080', 'x-forwarded-host': 'voice.example.org', 'x-forwarded-proto': 'https' }
  t.equal(realtimeUrl(unset, headers(proxied), 'T'), 'wss://voice.example.org/realtime?token=T')
})

t.test('what is no host name leads nowhere else', async (t) => {
  for (const host of ['', 'evil/path', 'a b', 'user@host', 'host:123456']) {
    t.equal(realtimeUrl(unset, headers({ host }), 'T'), 'ws://localhost:8080/realtime?token=T', host)
  }
})
