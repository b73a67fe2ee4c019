import { writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { parseAst } from 'vite'
import { productFiles, type SyntaxNode, unguardedIn, walk } from './test/support/registrations.ts'

const SKIP =
  /^(runtime\/lifecycle|workers\/voice\/survive|api\/auth\/password-thread|runtime\/tools\/argument-check-thread|runtime\/knowledge\/engine\/thread|runtime\/realtime-thread|plugins\/local\/(thread|ears|voice)|workers\/documents\/extract\/thread|workers\/dialer\/load-thread|store\/bulk-copy-process|runtime\/plugin\/isolated\/(runner|node-main)|runtime\/process\/boundary)\.ts$/
const KINDS: [RegExp, string][] = [
  [/^api\/(realtime\/webrtc|supervision\/peer)/, 'webrtc'],
  [/^api\/(realtime|supervision)/, 'websocket'],
  [/^api\/(calls|chats|campaigns|batches|phone-numbers)/, 'call'],
  [/^api\/tools/, 'tool'],
  [/^api\/telephony/, 'carrier'],
  [/^api\/(operator|events)/, 'redis'],
  [/^api\/(voices|providers|knowledge)/, 'provider'],
  [/^api\//, 'http'],
  [/^runtime\/link/, 'link'],
  [/^runtime\/telephony/, 'carrier'],
  [/^runtime\/plugin/, 'plugin'],
  [/^runtime\/(speech|knowledge|models|analysis)/, 'provider'],
  [/^runtime\/conversation\/(recogniser|resilient|stream-failure|providers|warm|fillers)/, 'provider'],
  [/^runtime\/(conversation|session|call-log|recording|media|traces|admission|call\.ts|signal-within)/, 'call'],
  [/^runtime\/tools/, 'tool'],
  [/^runtime\/operations/, 'http'],
  [/^runtime\//, 'process'],
  [/^plugins\/sip\/media/, 'rtp'],
  [/^plugins\/sip/, 'sip'],
  [/^plugins\/(twilio|telnyx|plivo)/, 'carrier'],
  [/^plugins\//, 'provider'],
  [/^workers\/voice/, 'call'],
  [/^workers\//, 'queue'],
  [/^store\/(redis|embedded\/redis)/, 'redis'],
  [/^store\//, 'database'],
  [/^(cli|main)/, 'process'],
]
let files = 0,
  sites = 0
for (const [file, text] of await productFiles()) {
  if (SKIP.test(file)) continue
  const kind = KINDS.find(([at]) => at.test(file))![1]
  const inserts: [number, string][] = []
  const done = new Set<number>()
  const imports = new Set<string>()
  for (const { handler, made } of unguardedIn(file, text)) {
    const target = made !== undefined && /Function/.test(made.type) ? made : handler
    if (done.has(target.start)) continue
    done.add(target.start)
    sites++
    imports.add('boundary')
    inserts.push([target.start, `boundary('${kind}', `], [target.end, ')'])
  }
  walk(parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode, [], (node, above) => {
    if (node.type !== 'UnaryExpression' || node.operator !== 'void') return
    const arg = node.argument as SyntaxNode
    if (arg.start - node.start > 5) {
      console.log('manual', file, text.slice(node.start, node.end))
      return
    }
    sites++
    const body = text.slice(arg.start, arg.end)
    if (above.at(-1)!.type === 'ExpressionStatement' && /\.catch\(\(\) => undefined\)$/.test(body)) {
      inserts.push([node.start, `\u0000${arg.start - node.start}\u0000`])
      return
    }
    imports.add('inBackground')
    inserts.push([node.start, `\u0000${arg.start - node.start}\u0000inBackground('${kind}', `], [arg.end, ')'])
  })
  if (inserts.length === 0) continue
  files++
  let out = text
  inserts.sort((a, b) => b[0] - a[0] || 0)
  for (const [at, what] of inserts) {
    const m = /^\0(\d+)\0(.*)$/s.exec(what)
    out = m ? out.slice(0, at) + m[2] + out.slice(at + Number(m[1])) : out.slice(0, at) + what + out.slice(at)
  }
  if (imports.size > 0) {
    let to = relative(dirname(file), 'runtime/process/boundary.ts')
    if (!to.startsWith('.')) to = `./${to}`
    const old = /import \{ ([^}]*) \} from '[^']*process\/boundary\.ts'\n/.exec(out)
    if (old) {
      for (const n of old[1]!.split(', ')) imports.add(n)
      out = out.replace(old[0], '')
    }
    const line = `import { ${[...imports].sort().join(', ')} } from '${to}'\n`
    const first = /^import /m.exec(out)
    const at = first ? first.index : 0
    out = out.slice(0, at) + line + out.slice(at)
  }
  if (process.argv[2] === 'write') writeFileSync(file, out)
}
console.log(files, sites)
