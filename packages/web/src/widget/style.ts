/** The look of the widget; a page sets the custom properties named here. */
export const STYLE = `
:host{color-scheme:light dark;--accent:var(--patchbay-accent,#3451d1);--on-accent:var(--patchbay-on-accent,#fff);
--surface:var(--patchbay-surface,light-dark(#fff,#1c1d21));--text:var(--patchbay-text,light-dark(#17181c,#f1f1f4));
--line:light-dark(#c9ccd6,#4a4d57);font:1rem/1.4 var(--patchbay-font,system-ui,sans-serif);color:var(--text)}
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
.words li{max-width:85%;padding:.4rem .7rem;border-radius:.9rem;background:light-dark(#eceef5,#2c2e36);overflow-wrap:anywhere}
.words li.user{align-self:end;background:var(--accent);color:var(--on-accent)}
.words b{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.state{display:flex;gap:.6rem;align-items:center;min-height:1.6rem}
meter{width:4rem}
form,.row{display:flex;gap:.5rem;margin-top:.5rem;flex-wrap:wrap}
input,select{flex:1;min-width:0;min-height:2.75rem;padding:.3rem .7rem;border:1px solid var(--line);border-radius:.7rem;background:none;color:inherit}
select{max-width:100%}option{background:var(--surface);color:var(--text)}
label{display:flex;gap:.5rem;align-items:center;width:100%}
.fault{color:light-dark(#8c1d18,#ffb4ab)}
`
