import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Teardown, testFolder } from '../instance/services.ts'

const SHIPPED = new URL('../../../config/calling-rules.json', import.meta.url)

/** A file of calling rules that allow every place of the shipped ones to be called at any hour, so that no test depends on when it runs. */
export async function anyHour(t: Teardown): Promise<string> {
  const { rules } = JSON.parse(await readFile(SHIPPED, 'utf8')) as { rules: { region: string }[] }
  const hours = { '1-7': '00:00-24:00' }
  const open = rules.map(({ region }) => ({ region, hours, citation: 'Of a test', as_of: '2026-01-01' }))
  const file = join(await testFolder(t), 'any-hour.json')
  await writeFile(file, JSON.stringify({ rules: open }))
  return file
}
