import { readdir, readlink } from 'node:fs/promises'
import t from 'tap'
import { openSpool, type Spool } from '../../../../store/uploads/spool.ts'

async function readBack(spool: Spool): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of spool.read()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** Files of spools that this process has open. */
async function openFiles(): Promise<number> {
  const links = await Promise.all(
    (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
  )
  return links.filter((link) => /\/patchbay-[0-9a-f-]{36} \(deleted\)$/.test(link)).length
}

t.test('what is small comes back as it came, twice if asked, and was never on a disk', async (t) => {
  const spool = openSpool()
  const piece = Buffer.from('first ')
  await spool.append(piece)
  piece.fill('x')
  await spool.append(Buffer.from('second'))
  t.equal((await readBack(spool)).toString(), 'first second', 'though the memory of a piece was used again')
  t.equal((await readBack(spool)).toString(), 'first second')
  t.equal(await openFiles(), 0)
  await spool.close()
})

t.test(
  'what grows large goes to a file, from its first byte to its last, and the file goes with the spool',
  async (t) => {
    const spool = openSpool()
    const pieces = Array.from({ length: 40 }, (_, i) => Buffer.alloc(10_007, i))
    for (const piece of pieces) await spool.append(piece)
    t.equal(await openFiles(), 1)
    t.ok((await readBack(spool)).equals(Buffer.concat(pieces)))
    await spool.close()
    t.equal(await openFiles(), 0)
  },
)

t.test('one large piece comes back whole', async (t) => {
  const spool = openSpool()
  const piece = Buffer.alloc(300_000, 'abcdefg')
  await spool.append(piece)
  t.ok((await readBack(spool)).equals(piece))
  await spool.close()
})
