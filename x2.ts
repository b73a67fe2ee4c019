import { writeFileSync } from 'node:fs'
import { parseAst } from 'vite'
import { isHarmless, productFiles, walk, type SyntaxNode } from './test/support/registrations.ts'
let n = 0
for (const [file, text] of await productFiles()) {
  if (!text.includes("boundary('")) continue
  const cuts: [number, number][] = []
  walk(parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode, [], (node, above) => {
    if (node.type !== 'CallExpression' || (node.callee as any).name !== 'boundary') return
    const args = node.arguments as SyntaxNode[]
    if (args.length !== 2 || !isHarmless(args[1]!, above)) return
    cuts.push([args[1]!.end, node.end], [node.start, args[1]!.start])
  })
  if (cuts.length === 0) continue
  let out = text
  for (const [from, to] of cuts.sort((a, b) => b[0] - a[0])) out = out.slice(0, from) + out.slice(to)
  n += cuts.length / 2
  writeFileSync(file, out)
}
console.log(n)
