import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compileGrants } from '../../../../../runtime/plugin/grants/permissions.ts'
import { refusalOf } from '../../../../../runtime/plugin/isolated/deno-permissions.ts'

const ADDRESSES: Record<string, string> = {
  'api.example': '93.184.216.34',
  'rebound.example': '127.0.0.1',
  'inside.example': '10.0.0.7',
  ollama: '10.0.0.5',
}

const asked: string[] = []
const resolveName = async (host: string): Promise<string[]> => {
  asked.push(host)
  return [ADDRESSES[host] ?? '']
}

const decide = async (permission: string, value: string | null, granted: object, readable: string[] = []) =>
  refusalOf({ permission, value }, compileGrants(granted, { env: {}, baseDir: '/' }), readable, resolveName)

t.test('a host is decided by its name and port', async (t) => {
  const granted = { net: ['api.example:443', '*.cdn.example'] }
  for (const value of ['api.example:443', 'API.example.:443', 'a.cdn.example:8080', 'api.example'])
    t.equal(await decide('net', value, granted), undefined, value)
  for (const value of ['api.example:80', 'other.example:443', '93.184.216.34:443', '[::1]:443', '0.0.0.0:0', 'x', ''])
    t.match(await decide('net', value, granted), { permission: 'net', target: value }, value)
  t.match(await decide('net', null, granted), { permission: 'net' })
  t.equal(await decide('net', '192.0.2.7:80', { net: ['192.0.2.7:80'] }), undefined)
  t.equal(await decide('net', '[2001:db8::1]:80', { net: ['[2001:db8::1]:80'] }), undefined)
  t.same(asked, [], 'nothing is resolved where no grant opens an address')
})

t.test('where a grant opens addresses inside, other names are decided by what they stand for as well', async (t) => {
  for (const inside of ['localhost:8000', 'ollama:11434', '10.0.0.9:80']) {
    const granted = { net: ['api.example', 'rebound.example', 'inside.example', inside] }
    t.equal(await decide('net', 'api.example:443', granted), undefined)
    t.match(await decide('net', 'rebound.example:8000', granted), {
      target: '127.0.0.1:8000',
      why: '(the address of "rebound.example")',
    })
    t.match(await decide('net', 'inside.example:11434', granted), { target: '10.0.0.7:11434' })
  }
  asked.length = 0
  t.equal(await decide('net', 'localhost:8000', { net: ['localhost:8000', 'api.example'] }), undefined)
  t.same(asked, [], 'this machine is not looked up')
  t.equal(await decide('net', 'ollama:11434', { net: ['ollama:11434', 'api.example'] }), undefined)
})

t.test('a file is decided by where it lies, links resolved', async (t) => {
  const dir = t.testdir({})
  const own = join(dir, 'own')
  const secret = join(dir, 'secret')
  for (const folder of [own, secret, join(dir, 'data')]) mkdirSync(folder)
  writeFileSync(join(secret, 'key'), 'k')
  symlinkSync(join(secret, 'key'), join(own, 'link'))
  const granted = { read: [join(dir, 'data')] }
  for (const path of [own, join(own, 'mod.ts'), join(dir, 'data/a.bin')])
    t.equal(await decide('read', path, granted, [own]), undefined, path)
  for (const path of [join(own, 'link'), join(secret, 'key'), join(own, '../secret/key'), '/proc/self/environ'])
    t.match(await decide('read', path, granted, [own]), { permission: 'read', target: path }, path)
  t.match(await decide('read', null, granted, [own]), { permission: 'read' })
})

t.test('variables are decided by name, and all else is refused', async (t) => {
  t.equal(await decide('env', 'ACME_KEY', { env: ['ACME_KEY'] }), undefined)
  t.match(await decide('env', 'OTHER', { env: ['ACME_KEY'] }), { permission: 'env', target: 'OTHER' })
  t.match(await decide('env', null, { env: ['ACME_KEY'] }), { permission: 'env' })
  for (const permission of ['run', 'write', 'ffi', 'sys', 'import', 'new'])
    t.ok(await decide(permission, '/bin/sh', { run: ['/bin/sh'], read: ['/bin'] }), permission)
})
