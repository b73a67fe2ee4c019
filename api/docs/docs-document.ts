import { escapeHtml } from '../http/escape-html.ts'
import { addressOf, type Rendered } from './render-markdown.ts'
import { type DocsSite, type Found, GROUPS } from './site.ts'

/** The look of the documentation; the colours are those of the console. */
export const STYLE = `
:root{color-scheme:light dark;--page:light-dark(#f6f7f7,#0f1515);--surface:light-dark(#fff,#161e1e);--sunken:light-dark(#eef1f1,#1d2727);
--line:light-dark(#e1e5e5,#293535);--strong:light-dark(#8b9696,#6d7d7c);--ink:light-dark(#16201f,#e6eceb);--muted:light-dark(#566361,#9aa9a7);
--accent:light-dark(#0a625d,#6cc9c0);--soft:light-dark(#e0f0ee,#15332f)}
*{box-sizing:border-box}
html{scroll-padding-top:4.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:1rem/1.6 Inter,ui-sans-serif,system-ui,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;top:-4rem;left:1rem;z-index:3;padding:.5rem 1rem;background:var(--surface)}.skip:focus{top:.5rem}
header{position:sticky;top:0;z-index:2;display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;padding:.65rem 1.5rem;border-bottom:1px solid var(--line);background:var(--surface)}
header a{text-decoration:none;font-weight:500}
header .name{color:var(--ink);font-weight:700;font-size:1.05rem}
form{flex:1;min-width:12rem;max-width:28rem;margin:0 auto}
input{width:100%;height:2.25rem;padding:0 .75rem;border:1px solid var(--strong);border-radius:7px;background:var(--page);color:inherit;font:inherit;font-size:.9rem}
input::placeholder{color:var(--muted);opacity:1}
.body{display:grid;grid-template-columns:16rem minmax(0,1fr);max-width:82rem;margin:0 auto}
nav{position:sticky;top:3.6rem;align-self:start;max-height:calc(100dvh - 3.6rem);overflow-y:auto;padding:1.25rem 1rem 3rem;font-size:.875rem}
nav h2{margin:1.1rem .6rem .3rem;color:var(--muted);font-size:.75rem;font-weight:600}
nav ul{margin:0;padding:0;list-style:none}nav li{margin:0}
nav a{display:block;padding:.28rem .6rem;border-radius:7px;color:var(--ink);text-decoration:none}
nav a:hover{background:var(--sunken)}nav a[aria-current]{background:var(--soft);color:var(--accent);font-weight:500}
main{min-width:0;padding:1.75rem 2rem 5rem;outline:none}
main>*{max-width:52rem}
h1{margin:0 0 1rem;font-size:1.75rem;line-height:1.25;letter-spacing:-.015em}
h2{margin:2.25rem 0 .6rem;font-size:1.25rem;line-height:1.35}h3{margin:1.6rem 0 .4rem;font-size:1.05rem}
.anchor{visibility:hidden;color:var(--muted);font-weight:400;text-decoration:none}
:is(h1,h2,h3,h4):hover .anchor,.anchor:focus-visible{visibility:visible}
p,ul,ol{margin:.7rem 0}li{margin:.3rem 0}
code{padding:.1em .3em;border-radius:4px;background:var(--sunken);font:.875em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,monospace;overflow-wrap:anywhere}
pre{overflow-x:auto;padding:.9rem 1rem;border:1px solid var(--line);border-radius:9px;background:var(--surface)}
pre code{padding:0;background:none;overflow-wrap:normal}
.table{overflow-x:auto;max-width:100%;margin:1rem 0;border:1px solid var(--line);border-radius:9px;background:var(--surface)}
table{width:100%;border-collapse:collapse;font-size:.875rem;line-height:1.5}
th,td{padding:.5rem .75rem;border-top:1px solid var(--line);text-align:left;vertical-align:top}
thead th{border-top:0;color:var(--muted);font-weight:600}
img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:9px}
blockquote{margin:1rem 0;padding:.1rem 1rem;border-left:3px solid var(--accent)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(17rem,1fr));gap:1rem;max-width:none;margin:0;padding:0;list-style:none}
.cards a{display:block;height:100%;padding:.9rem 1rem;border:1px solid var(--line);border-radius:9px;background:var(--surface);color:var(--ink);text-decoration:none}
.cards a:hover{border-color:var(--strong)}
.cards li{margin:0}.cards b{color:var(--accent)}
.cards span{display:-webkit-box;-webkit-box-orient:vertical;-webkit-line-clamp:3;overflow:hidden;margin-top:.2rem;color:var(--muted);font-size:.875rem;line-height:1.45}
.found{padding:0;list-style:none}.found li{margin:0 0 1.25rem}.found p{margin:.15rem 0;color:var(--muted);font-size:.9rem}
mark{background:var(--soft);color:inherit}
.menu{display:none}
@media (max-width:60rem){.body{display:flex;flex-direction:column}nav{order:2;position:static;align-self:auto;max-height:none;padding:1rem;border-top:1px solid var(--line)}main{padding:1.25rem 1rem 3rem}.menu{display:inline}header{position:static;padding:.65rem 1rem}form{order:9;flex-basis:100%;max-width:none}}
@media print{header,nav,.anchor{display:none}.body{display:block}}
`

interface Page {
  title: string
  /** The address of the page that is shown. */
  address?: string
  /** What was searched for. */
  words?: string
  content: string
}

/** A page of the documentation as HTML. */
export function docsDocument(site: DocsSite, { title, address, words = '', content }: Page): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Patchbay</title>
<link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
<link rel="stylesheet" href="/docs/style.css">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="name" href="/docs">Patchbay docs</a>
<form action="/docs/search" role="search"><input aria-label="Search the documentation" autocomplete="off" maxlength="200" name="q" placeholder="Search the documentation" type="search" value="${escapeHtml(words)}"></form>
<a class="menu" href="#pages">Pages</a>
<a href="/docs/reference">API reference</a>
<a href="/console/">Console</a>
</header>
<div class="body">
${navigation(site, address)}
<main id="content" tabindex="-1">
${content}
</main>
</div>
</body>
</html>
`
}

function navigation({ pages }: DocsSite, current: string | undefined): string {
  const item = (path: string): string => {
    const address = addressOf(path)
    const title = pages.get(address)?.title
    if (title === undefined) return ''
    return `<li><a href="${address}"${address === current ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
  }
  const groups = GROUPS.map(([title, paths]) => `<h2>${escapeHtml(title)}</h2><ul>${paths.map(item).join('')}</ul>`)
  return `<nav aria-label="Pages" id="pages">${groups.join('')}</nav>`
}

/** What stands at /docs: every page with what it is about. */
export function homeOf({ pages }: DocsSite): string {
  const card = (address: string, { title, lead }: Rendered): string =>
    `<li><a href="${address}"><b>${escapeHtml(title)}</b><span>${escapeHtml(lead)}</span></a></li>`
  const groups = GROUPS.map(([title, paths]) => {
    const cards = paths.map(addressOf).flatMap((address) => {
      const page = pages.get(address)
      return page === undefined ? [] : [card(address, page)]
    })
    return `<h2>${escapeHtml(title)}</h2><ul class="cards">${cards.join('')}</ul>`
  })
  const reference = `<p>Every endpoint with its fields and errors: the <a href="/docs/reference">API reference</a>, as <a href="/openapi.json">OpenAPI</a> and <a href="/asyncapi.json">AsyncAPI</a>.</p>`
  return `<h1>Documentation</h1>${reference}${groups.join('')}`
}

/** What a search found. */
export function foundOf(words: string, found: readonly Found[]): string {
  if (words.trim() === '') return '<h1>Search</h1><p>Type what you look for into the field above.</p>'
  const one = ({ address, page, section, snippet: { text, terms } }: Found): string => {
    const title = section === '' || section === page ? page : `${page} › ${section}`
    return `<li><a href="${escapeHtml(address)}">${escapeHtml(title)}</a><p>${marked(text, terms)}</p></li>`
  }
  const list =
    found.length === 0
      ? '<p>Nothing has these words. Try fewer, or others.</p>'
      : `<ol class="found">${found.map(one).join('')}</ol>`
  return `<h1>Search: ${escapeHtml(words)}</h1>${list}`
}

/** The text with the terms marked. */
function marked(text: string, terms: readonly string[]): string {
  const pattern = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|')
  if (pattern === '') return escapeHtml(text)
  return text
    .split(new RegExp(`(${pattern})`, 'giu'))
    .map((part, n) => (n % 2 === 1 ? `<mark>${escapeHtml(part)}</mark>` : escapeHtml(part)))
    .join('')
}
