import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { MAX_TEST_BYTES, parseTest } from '../../runtime/agent-tests/parse.ts'
import type { AgentTest } from '../../runtime/agent-tests/schema.ts'
import { faultLine } from '../../runtime/lib/yaml/read-yaml.ts'

/** A test and where it stands. */
export interface TestFile {
  file: string
  test: AgentTest
}

const IS_TEST = /\.ya?ml$/i
const MAX_FILES = 2_000
const MAX_SHOWN = 20

/** The tests of files and folders; `faults` are lines like `tests/a.yaml:4: unknown key`. */
export async function readTestFiles(
  paths: readonly string[],
  cwd: string,
): Promise<{ tests: TestFile[]; faults: string[] }> {
  const tests: TestFile[] = []
  const faults: string[] = []
  for (const path of await filesOf(paths, cwd, faults)) {
    const file = relative(cwd, path) || path
    const { size } = await stat(path)
    if (size > MAX_TEST_BYTES) {
      faults.push(`${file}: is larger than ${MAX_TEST_BYTES >> 10} KiB`)
      continue
    }
    const parsed = parseTest(await readFile(path, 'utf8'))
    if (parsed.test !== undefined) tests.push({ file, test: parsed.test })
    faults.push(...(parsed.faults ?? []).slice(0, MAX_SHOWN).map((fault) => faultLine(file, fault)))
  }
  return { tests, faults }
}

async function filesOf(paths: readonly string[], cwd: string, faults: string[]): Promise<string[]> {
  const found: string[] = []
  for (const path of paths) {
    const full = resolve(cwd, path)
    const kind = await stat(full).catch(() => undefined)
    if (kind === undefined) faults.push(`${path}: there is no such file or folder`)
    else if (!kind.isDirectory()) found.push(full)
    else {
      const entries = await readdir(full, { recursive: true, withFileTypes: true })
      const files = entries.filter((entry) => entry.isFile() && IS_TEST.test(entry.name))
      found.push(...files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    }
  }
  if (found.length > MAX_FILES) faults.push(`These are ${found.length} files; at most ${MAX_FILES} run at once`)
  return found.slice(0, MAX_FILES)
}
