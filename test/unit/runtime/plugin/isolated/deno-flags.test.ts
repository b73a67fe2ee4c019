import t from 'tap'
import { denoFlags, type Sandbox } from '../../../../../runtime/plugin/isolated/deno-flags.ts'

const flags = (net: string[], more: Partial<Sandbox> = {}): string[] =>
  denoFlags({ plugin: 'acme', net, read: ['/srv/acme'], env: {}, memoryMiB: 128, ...more })
const flag = (all: string[], name: string): string[] =>
  all
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)
    .split(',') ?? []

/** An entry as operators write it, no template. */
const VARIABLE = '$' + '{ACME_URL}'

t.test('nothing but what was granted is allowed', async (t) => {
  const all = flags(['api.acme.example:443'])
  t.same(flag(all, '--allow-net'), ['api.acme.example:443'])
  t.same(flag(all, '--allow-read'), ['/srv/acme'])
  t.same(flag(all, '--v8-flags'), ['--max-old-space-size=128'])
  for (const one of ['--no-prompt', '--no-remote', '--no-npm']) t.ok(all.includes(one))
  t.notOk(all.some((one) => /^--allow-(run|ffi|write|sys|env|all|import)/.test(one)))
  t.notOk(
    flags([]).some((one) => one.startsWith('--allow-net')),
    'no grant, no network',
  )
})

t.test('a granted name stands for no address of this machine or its networks', async (t) => {
  const denied = flag(flags(['api.acme.example:443']), '--deny-net')
  for (const range of ['127.0.0.0/8', '10.0.0.0/8', '169.254.0.0/16', '[::1]', '[::]'])
    t.ok(denied.includes(range), range)
  t.notOk(flag(flags(['localhost:8000']), '--deny-net').includes('127.0.0.0/8'))
  t.ok(flag(flags(['localhost:8000']), '--deny-net').includes('10.0.0.0/8'))
  t.notOk(flag(flags(['ollama:11434']), '--deny-net').includes('10.0.0.0/8'), 'a name the public DNS does not answer')
  const variable = flags([VARIABLE], { env: { ACME_URL: 'http://llm.corp.example:8000/v1' } })
  t.same(flag(variable, '--allow-net'), ['llm.corp.example:8000'])
  t.notOk(flag(variable, '--deny-net').includes('10.0.0.0/8'), 'a name the operator chose')
  t.same(flag(flags([VARIABLE]), '--allow-net'), [], 'a variable that is unset grants nothing')
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
  t.throws(() => flags([], { read: ['/a,b'] }), { message: /comma/ })
})

function covers(range: string, address: string): boolean {
  const number = (text: string): number => text.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const [base = '', bits = '32'] = range.split('/')
  if (base.startsWith('[')) return false
  const size = 2 ** (32 - Number(bits))
  return Math.floor(number(base) / size) === Math.floor(number(address) / size)
}
