/** Controls, direction marks, invisible characters and separators of lines: what a terminal obeys or hides instead of showing. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Text from elsewhere as it can be shown on one line of a terminal: what is not printable becomes `\u{1b}`. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
