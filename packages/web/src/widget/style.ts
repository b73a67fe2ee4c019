/** The look of the widget; a page sets the custom properties named here, before those of the agent's look. */
export const STYLE = `
.root{--accent:var(--patchbay-accent,var(--look,light-dark(#0b6b66,#4fb8ae)));--on-accent:var(--patchbay-on-accent,var(--look-ink,light-dark(#fff,#06201d)));
--surface:var(--patchbay-surface,light-dark(#fff,#161e1e));--text:var(--patchbay-text,light-dark(#16201f,#e6eceb));
--line:light-dark(#8b9696,#6d7d7c);--soft:light-dark(#eef1f1,#293535);color-scheme:light dark;color:var(--text);font:1rem/1.4 var(--patchbay-font,system-ui,sans-serif)}
.light{color-scheme:light}.dark{color-scheme:dark}
:host(:not([inline])) .root{position:fixed;inset:auto 1rem 1rem auto;z-index:2147483000;display:flex;flex-direction:column;align-items:end;width:min(24rem,100% - 2rem);pointer-events:none}
:host(:not([inline])) .root.left{inset:auto auto 1rem 1rem;align-items:start}
*{box-sizing:border-box;font:inherit}
[hidden]{display:none!important}
svg{width:1.4em;height:1.4em;flex:none;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
button{display:inline-flex;gap:.5rem;align-items:center;justify-content:center;min-height:2.75rem;padding:.4rem 1.1rem;border:1px solid var(--line);border-radius:1.4rem;background:none;color:inherit;cursor:pointer;pointer-events:auto}
button:hover{filter:brightness(1.08)}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600}
button.end{background:#b3261e;border-color:#b3261e;color:#fff}
.row button{flex:1}
:focus-visible{outline:3px solid var(--text);outline-offset:2px}
.launcher{min-height:3.5rem;padding:.5rem 1.4rem .5rem .6rem;border-radius:1.75rem;box-shadow:0 .4rem 1.4rem #0004}
.avatar{display:grid;place-items:center;flex:none;width:2.5rem;height:2.5rem;border-radius:50%;overflow:hidden;background:var(--accent);color:var(--on-accent)}
.avatar img{width:100%;height:100%;object-fit:cover}
.panel{display:flex;flex-direction:column;gap:.75rem;width:100%;max-height:calc(100dvh - 2rem);padding:1rem;border:1px solid light-dark(#e1e5e5,#293535);border-radius:1.1rem;background:var(--surface);box-shadow:0 .6rem 2.2rem #0003;overflow:auto;pointer-events:auto}
:host([inline]) .panel{max-height:none;box-shadow:0 .2rem .8rem #0001}
header{display:flex;gap:.75rem;align-items:center}
header div{flex:1;min-width:0}
header strong{display:block;font-weight:650;overflow-wrap:anywhere}
.close{width:2.75rem;padding:0;border:0;border-radius:50%}
.state{display:block;font-size:.875rem;color:light-dark(#566361,#9aa9a7)}
p{margin:0}
.greeting{padding:.6rem .9rem;border-radius:.3rem .9rem .9rem;background:var(--soft);overflow-wrap:anywhere}
.small{font-size:.875rem;color:light-dark(#566361,#9aa9a7)}
.wave{display:flex;gap:3px;align-items:center;height:3rem}
.wave i{flex:1;height:8%;min-height:3px;border-radius:3px;background:var(--accent);transition:height .1s}
.wave i.user{background:var(--line)}
.words{display:flex;flex-direction:column;gap:.4rem;max-height:16rem;min-height:3rem;overflow:auto}
.words p{max-width:85%;padding:.4rem .8rem;border-radius:.3rem .9rem .9rem;background:var(--soft);overflow-wrap:anywhere;align-self:start}
.words .user{align-self:end;border-radius:.9rem .3rem .9rem .9rem;background:var(--accent);color:var(--on-accent)}
.words b{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
summary{padding:.6rem 0 .2rem;font-size:.875rem;cursor:pointer}
form,.row{display:flex;gap:.5rem;margin-top:.5rem}
input,select{flex:1;min-width:0;min-height:2.75rem;padding:.3rem .9rem;border:1px solid var(--line);border-radius:1.4rem;background:none;color:inherit}
select{max-width:100%}option{background:var(--surface);color:var(--text)}
label{display:flex;gap:.5rem;align-items:center;width:100%}
.fault{color:light-dark(#8c1d18,#ffb4ab)}.fault:empty{display:none}
@media(prefers-reduced-motion:reduce){.wave{display:none}}
@media(max-width:30rem){:host(:not([inline])) .root{inset:auto .5rem .5rem!important;width:auto}}
`
