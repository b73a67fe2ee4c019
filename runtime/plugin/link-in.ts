import { readdir } from 'node:fs/promises'

/** The name of a symbolic link anywhere in a folder; undefined without one. */
export async function linkIn(folder: string): Promise<string | undefined> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.find((entry) => entry.isSymbolicLink())?.name
}
