const MAX_CHARACTERS = 60

/** A file's name after what something is called: "Front Desk (EN)" → `front-desk-en`, where that is taken `front-desk-en-2`. */
export function freeName(shown: string, taken: ReadonlySet<string>): string {
  const plain = shown
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_CHARACTERS)
  const base = plain || 'agent'
  let name = base
  for (let count = 2; taken.has(name); count++) name = `${base}-${count}`
  return name
}
