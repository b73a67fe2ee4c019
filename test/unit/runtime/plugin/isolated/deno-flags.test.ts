import t from 'tap'
import { denoFlags, type Sandbox } from '../../../../../runtime/plugin/isolated/deno-flags.ts'

const flags = (net: string[], more: Partial<Sandbox> = {}): string[] =>
  denoFlags({ plugin: 'acme', net, env: {}, memoryMiB: 128, ...more })
const flag = (all: string[], name: string): string[] =>
  all
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .split(',') ?? []

/** An entry as operators write it, no template. */
const VARIABLE = '$' + '{ACME_URL}'

t.test('nothing is allowed by a flag: Deno asks its role', async (t) => {
  const all = flags(['api.acme.example:443'])
  t.same(flag(all, '--v8-flags'), ['--max-old-space-size=128'])
  for (const one of ['--no-prompt', '--no-remote']) t.ok(all.includes(one))
  t.notOk(all.some((one) => one.startsWith('--allow')))
})

t.test('beside other names, this machine is open at the granted ports alone', async (t) => {
  const closed = (net: string[], env: Record<string, string> = {}): Set<string> =>
    new Set(
      flags(net, { env })
        .filter((one) => one.startsWith('--deny-net='))
        .flatMap((one) => one.slice('--deny-net='.length).split(',')),
    )
  const both = closed(['localhost:8000', 'api.acme.example'])
  t.notOk(both.has('127.0.0.0/8'))
  for (const port of [1, 22, 5432, 7999, 8001, 65535]) t.ok(both.has(`127.0.0.0/8:${port}`), String(port))
  t.notOk(both.has('127.0.0.0/8:8000'))
  t.ok(closed([VARIABLE, 'api.acme.example'], { ACME_URL: 'http://localhost:8000' }).has('127.0.0.0/8:8001'))
  t.ok(closed(['127.0.0.1:8000', '*.acme.example']).has('127.0.0.0/8:8001'))
  t.notOk(closed(['localhost:8000']).has('127.0.0.0/8:8001'), 'nobody else leads there')
  for (const net of [
    ['localhost', 'api.acme.example'],
    ['127.0.0.1', 'api.acme.example:443'],
  ])
    t.throws(() => flags(net), { message: /opens all ports of this machine beside other hosts; name the port/ })
  t.ok(Math.max(...flags(['localhost:8000', 'a.example']).map(({ length }) => length)) < 128 << 10, 'fits an argument')
})

t.test('a granted name stands for no address of this machine or its networks', async (t) => {
  const denied = flag(flags(['api.acme.example:443']), '--deny-net')
  for (const range of ['127.0.0.0/8', '10.0.0.0/8', '169.254.0.0/16', '[::1]', '[::]'])
    t.ok(denied.includes(range), range)
  t.notOk(flag(flags(['localhost:8000']), '--deny-net').includes('127.0.0.0/8'))
  t.ok(flag(flags(['localhost:8000']), '--deny-net').includes('10.0.0.0/8'))
  t.notOk(flag(flags(['ollama:11434']), '--deny-net').includes('10.0.0.0/8'), 'a name the public DNS does not answer')
  const variable = flags([VARIABLE], { env: { ACME_URL: 'http://llm.corp.example:8000/v1' } })
  t.notOk(flag(variable, '--deny-net').includes('10.0.0.0/8'), 'a name the operator chose')
})

t.test('an address that was granted is cut out of what is denied, and no other', async (t) => {
  const denied = flag(flags(['10.1.2.3:443']), '--deny-net')
  const inside = (address: string): boolean => denied.some((range) => covers(range, address))
  t.notOk(inside('10.1.2.3'))
  for (const address of ['10.1.2.2', '10.1.2.4', '10.0.0.0', '10.255.255.255', '127.0.0.1'])
    t.ok(inside(address), address)
  const wide = flag(flags(['10.1.0.0/16:443']), '--deny-net')
  t.notOk(wide.some((range) => covers(range, '10.1.255.255')))
  t.ok(wide.some((range) => covers(range, '10.2.0.0')))
})

t.test('what Deno has no words for is refused with a cure', async (t) => {
  t.throws(() => flags(['unix:/run/x.sock']), { message: /Unix socket/ })
  t.throws(() => flags(['[fd00::/8]:443']), { message: /range of IPv6 addresses/ })
})

function covers(range: string, address: string): boolean {
  const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const [base = '', bits = '32'] = range.split('/')
  if (base.startsWith('[')) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(number(base) / size) === Math.floor(number(address) / size)
}
