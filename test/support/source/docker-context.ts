import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

interface Rule {
  keeps: boolean
  matches: RegExp
}

/** The files of a folder that `docker build` is sent, as its .dockerignore says: the last rule that fits a path or a folder above it counts. */
export function dockerContext(folder: string, ignore = join(folder, '.dockerignore')): string[] {
  const rules = readFileSync(ignore, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(ruleOf)
  const paths = globSync('**/*', { cwd: folder, exclude: (entry) => /(^|\/)(node_modules|\.git)$/.test(String(entry)) })
  const hidden = globSync(['**/.*', '**/.*/**'], {
    cwd: folder,
    exclude: (entry) => /(^|\/)node_modules$/.test(String(entry)),
  })
  return [...new Set([...paths, ...hidden])].filter((path) => isSent(rules, path)).sort()
}

function isSent(rules: readonly Rule[], path: string): boolean {
  const parts = path.split('/')
  const above = parts.map((_, length) => parts.slice(0, length + 1).join('/'))
  return rules.findLast(({ matches }) => above.some((one) => matches.test(one)))?.keeps ?? true
}

function ruleOf(line: string): Rule {
  const keeps = line.startsWith('!')
  const pattern = line.replace(/^!/, '').replace(/^\/|\/$/g, '')
  const source = pattern.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (token) => {
    if (token === '**/') return '(?:.*/)?'
    if (token === '**') return '.*'
    if (token === '*') return '[^/]*'
    return token === '?' ? '[^/]' : `\\${token}`
  })
  return { keeps, matches: new RegExp(`^${source}$`) }
}
