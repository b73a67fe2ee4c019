/** The look of the widget; a page sets the custom properties named here. */
export const STYLE = `
:host{color-scheme:light dark;--accent:var(--patchbay-accent,light-dark(#0b6b66,#4fb8ae));--on-accent:var(--patchbay-on-accent,light-dark(#fff,#06201d));
--surface:var(--patchbay-surface,light-dark(#fff,#161e1e));--text:var(--patchbay-text,light-dark(#16201f,#e6eceb));
--line:light-dark(#8b9696,#6d7d7c);font:1rem/1.4 var(--patchbay-font,system-ui,sans-serif);color:var(--text)}
:host(:not([inline])){position:fixed;inset:auto 1rem 1rem auto;z-index:2147483000}
*{box-sizing:border-box;font:inherit}
[hidden]{display:none!important}
button{min-height:2.75rem;padding:.4rem 1rem;border:1px solid var(--line);border-radius:1.4rem;background:none;color:inherit;cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
button.end{background:#b3261e;border-color:#b3261e;color:#fff}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.panel{width:min(24rem,calc(100vw - 2rem));padding:1rem;border:1px solid var(--line);border-radius:1rem;background:var(--surface);box-shadow:0 .5rem 2rem #0003}
:host([inline]) .panel{width:100%;box-shadow:none}
.words{display:flex;flex-direction:column;gap:.4rem;max-height:16rem;overflow:auto;margin:.75rem 0;padding:0;list-style:none}
.words li{max-width:85%;padding:.4rem .7rem;border-radius:.9rem;background:light-dark(#eef1f1,#293535);overflow-wrap:anywhere}
.words li.user{align-self:end;background:var(--accent);color:var(--on-accent)}
.words b{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.state{display:flex;gap:.6rem;align-items:center;min-height:1.6rem}
meter{width:4rem}
.main{width:100%;font-weight:600}
summary{padding:.6rem 0 .2rem;font-size:.875rem;cursor:pointer}
form,.row{display:flex;gap:.5rem;margin-top:.5rem;flex-wrap:wrap}
input,select{flex:1;min-width:0;min-height:2.75rem;padding:.3rem .7rem;border:1px solid var(--line);border-radius:.7rem;background:none;color:inherit}
select{max-width:100%}option{background:var(--surface);color:var(--text)}
label{display:flex;gap:.5rem;align-items:center;width:100%}
.state:not(:has(meter:not([hidden]))):has(span:empty){min-height:0}
.fault{margin:.5rem 0;color:light-dark(#8c1d18,#ffb4ab)}.fault:empty{margin:0}
`
