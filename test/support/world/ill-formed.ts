/** Text that Postgres, its jsonb or other servers refuse, and what of each is to be kept. */
export const ILL_FORMED: Readonly<Record<string, { text: string; clean: string }>> = {
  'lone high': { text: 'hi \ud83d there', clean: 'hi \ufffd there' },
  'lone low': { text: 'hi \udc4d there', clean: 'hi \ufffd there' },
  'reversed pair': { text: 'hi \udc4d\ud83d', clean: 'hi \ufffd\ufffd' },
  'cut emoji': { text: 'hi \ud83d', clean: 'hi \ufffd' },
  NUL: { text: 'hi \0there', clean: 'hi there' },
}

/** Text that looks like an escape and is none: it stays as it is. */
export const NO_ESCAPES = 'hi \\u0000 \\ud83d'
