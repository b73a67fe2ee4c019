import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parseEnvFile, readEnvFile, withEnvFile } from '../../../config/env-file.ts'
import { loadConfig } from '../../../config/load.ts'
import { misspeltVariables } from '../../../config/misspelt-variables.ts'
import { PatchbayError } from '../../../runtime/lib/errors.ts'
import { type Teardown, testFolder } from '../../support/instance/services.ts'

async function fileWith(t: Teardown, text: string): Promise<string> {
  const file = join(await testFolder(t), '.env')
  await writeFile(file, text)
  return file
}

function failureOf(read: () => unknown): PatchbayError {
  try {
    read()
  } catch (error) {
    if (error instanceof PatchbayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

t.test('values are read as people write them', async (t) => {
  const { values, lines, faults } = parseEnvFile(
    [
      '\uFEFF# keys',
      '',
      'PLAIN=sk-1#2  # the key',
      '  export SPACED =  two words  ',
      'EMPTY=',
      'REMARKED= # nothing',
      `SINGLE='as $it \\n stands'   # why`,
      'DOUBLE="a \\"b\\"\\n$c"',
      'PEM="-----BEGIN',
      'END-----"',
      'LAST=1',
    ].join('\r\n'),
  )
  t.same(faults, [])
  t.same(values, {
    PLAIN: 'sk-1#2',
    SPACED: 'two words',
    EMPTY: '',
    REMARKED: '',
    SINGLE: 'as $it \\n stands',
    DOUBLE: 'a "b"\n$c',
    PEM: '-----BEGIN\nEND-----',
    LAST: '1',
  })
  t.equal(lines.get('LAST'), 11)
})

t.test('every faulty line is named, and no value is shown', async (t) => {
  const file = await fileWith(t, 'A=1\nsk-secret\nB="sk-secret" x\nA=sk-secret\nC=\'sk-secret\n')
  const { message, code } = failureOf(() => readEnvFile({ PATCHBAY_ENV_FILE: file }))
  t.equal(code, 'configuration')
  t.match(message, `${file}, line 2: is not of the form NAME=value; `)
  t.match(message, 'line 3: text follows the closing quotation mark of B; ')
  t.match(message, 'line 4: A is set already on line 1; ')
  t.match(message, 'line 5: the quotation mark of C is not closed')
  t.notMatch(message, 'sk-secret')
})

t.test('the environment wins, also where it sets nothing', async (t) => {
  const file = readEnvFile({ PATCHBAY_ENV_FILE: await fileWith(t, 'A=file\nB=file\nC=file\n') })
  t.same(withEnvFile({ A: 'own', B: '' }, file), { A: 'own', B: '', C: 'file' })
})

t.test('a file that was named must be there; "none" reads none', async (t) => {
  const { message } = failureOf(() => readEnvFile({ PATCHBAY_ENV_FILE: '/nowhere/.env' }))
  t.match(message, /^PATCHBAY_ENV_FILE names "\/nowhere\/\.env", which is not there; create it/)
  t.equal(readEnvFile({ PATCHBAY_ENV_FILE: 'none' }), undefined)
})

t.test('a setting that does not fit is told with its line', async (t) => {
  const file = readEnvFile({ PATCHBAY_ENV_FILE: await fileWith(t, '\nPORT=x\nPATCHBAY_PROT=1\n') })
  const { message } = failureOf(() => loadConfig(withEnvFile({}, file), [], file))
  t.match(message, new RegExp(`PORT \\(${file?.name}, line 2\\) must be a whole number`))
  t.match(message, new RegExp(`PATCHBAY_PROT \\(${file?.name}, line 3\\) is not a setting, did you mean PORT`))
  const own = failureOf(() => loadConfig(withEnvFile({ PORT: 'y' }, file), [], file)).message
  t.match(own, 'PORT must be', 'what the environment says is not the file’s fault')
})

t.test('a misspelt key of a provider is found, other programs’ variables are left alone', async (t) => {
  const read = new Set(['OPENAI_API_KEY', 'DEEPGRAM_API_KEY'])
  const name = await fileWith(t, 'OPENAI_APIKEY=1\nDEEPGRAM_API_KEY=2\nPOSTGRES_PASSWORD=3\nPORT=1\n')
  const file = readEnvFile({ PATCHBAY_ENV_FILE: name })
  t.same(misspeltVariables(file, read), [`${name}, line 1: nothing reads OPENAI_APIKEY; did you mean OPENAI_API_KEY?`])
})
