import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Teardown, testFolder } from '../instance/services.ts'
import { freePort } from './sip-peers.ts'

/** Kamailio as a carrier has it: a registrar, and a proxy that asks callers for a password and stays in the way of every call. */

export const KAMAILIO_PASSWORD = 'top secret'
const START_MS = 120_000

export interface Kamailio {
  readonly port: number
  /** Ends it: nobody answers there any more. */
  stop(): Promise<void>
}

/** @param phone port of whoever is called by a number that nobody has registered */
export async function startKamailio(t: Teardown, options: { phone: number; port?: number }): Promise<Kamailio> {
  const folder = await testFolder(t)
  const port = options.port ?? (await freePort())
  await writeFile(join(folder, 'kamailio.cfg'), configuration(port, options.phone))
  const args = ['-DD', '-E', '-f', join(folder, 'kamailio.cfg'), '-w', folder, '-Y', folder, '-m', '32', '-M', '4']
  const child = spawn('kamailio', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  const ready = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-20_000)
      // Said of the socket once it is bound.
      if (printed.includes('SO_RCVBUF is finally')) ready.resolve()
    })
  }
  const timer = setTimeout(() => ready.reject(new Error(`kamailio did not start: ${printed}`)), START_MS)
  child.once('exit', () => ready.reject(new Error(`kamailio ended: ${printed}`)))
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    await closed
  }
  t.teardown(stop)
  await ready.promise.finally(() => clearTimeout(timer))
  return { port, stop }
}

/** Where Debian keeps them depends on the machine's kind. */
function modules(): string {
  const found = spawnSync('sh', ['-c', 'ls -d /usr/lib/*/kamailio/modules /usr/lib/kamailio/modules 2>/dev/null'])
  return String(found.stdout).split('\n')[0] ?? ''
}

const configuration = (port: number, phone: number): string => `
debug=2
log_stderror=yes
children=2
listen=udp:127.0.0.1:${port}
mpath="${modules()}/"
${'tm sl rr pv maxfwd usrloc registrar textops siputils auth'
  .split(' ')
  .map((name) => `loadmodule "${name}.so"`)
  .join('\n')}
modparam("usrloc", "db_mode", 0)
request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not here");
    exit;
  }
  t_check_trans();
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("$td", "${KAMAILIO_PASSWORD}", "0")) { www_challenge("$td", "0"); exit; }
    save("location");
    exit;
  }
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (!is_method("INVITE")) { sl_send_reply("405", "Method Not Allowed"); exit; }
  record_route();
  if (lookup("location")) { t_relay(); exit; }
  if (!pv_proxy_authenticate("$fd", "${KAMAILIO_PASSWORD}", "0")) { proxy_challenge("$fd", "0"); exit; }
  consume_credentials();
  $du = "sip:127.0.0.1:${phone}";
  t_relay();
}
`
